package contract

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var shapeRules = []Rule{
	ruleFor(KindShape, "shape/signature", "The signature is the hash of the canonical JSON without signature and validity_level.", func(s Shape, report reporter) {
		if signature, err := s.ComputeSignature(); err != nil || signature != s.Signature {
			report("/signature", "the signature is not that of the record", "normalize the fixture again; a shape is never edited by hand")
		}
	}),
	ruleFor(KindShape, "shape/transport", "The transport is one of the family's.", func(s Shape, report reporter) {
		if !slices.Contains(s.ProtocolFamily.Transports(), s.Transport) {
			report("/transport", "the family has another framing", oneOf(s.ProtocolFamily.Transports()))
		}
	}),
	ruleFor(KindShape, "shape/frame-count", "frame_count is the number of frame_shapes.", func(s Shape, report reporter) {
		if s.FrameCount != len(s.FrameShapes) {
			report("/frame_count", "the number is not that of the frame_shapes", "count the entries of frame_shapes")
		}
	}),
	ruleFor(KindShape, "shape/event-types", "event_types are the sorted event types of the frame_shapes, all of them and no others.", func(s Shape, report reporter) {
		used := map[string]bool{}
		for _, f := range s.FrameShapes {
			used[f.EventType] = true
		}
		if !slices.Equal(s.EventTypes, slices.Sorted(maps.Keys(used))) {
			report("/event_types", "the list is not the sorted set of the event types in frame_shapes", "list each event_type of frame_shapes once, sorted bytewise")
		}
	}),
	ruleFor(KindShape, "shape/frame-kinds", "There is one entry for each direction, stream and event type.", func(s Shape, report reporter) {
		seen := map[[3]string]bool{}
		for i, f := range s.FrameShapes {
			kind := [3]string{string(f.Direction), string(f.Stream), f.EventType}
			if seen[kind] {
				report(pointer("frame_shapes", i), "the frame kind is there already", "merge the entries")
			}
			seen[kind] = true
		}
	}),
	ruleFor(KindShape, "shape/direction", "Directions and streams pair, and only RPC families record what they were sent.", checkDirections),
	ruleFor(KindShape, "shape/paths", "Paths are well-formed, sorted by path and type, and unique.", func(s Shape, report reporter) {
		for i, f := range s.FrameShapes {
			for j, p := range f.Paths {
				if !shapePath.MatchString(p.Path) {
					report(pointer("frame_shapes", i, "paths", j, "path"), "the path is not well-formed", "write it like $.a.b[].c, with ['…'] around odd keys")
				}
				if j > 0 && comparePaths(f.Paths[j-1], p) >= 0 {
					report(pointer("frame_shapes", i, "paths", j), "the path is out of order or twice in the list", "sort by path, then by type, bytewise, one entry for each pair")
				}
			}
		}
	}),
	ruleFor(KindShape, "shape/enums", "Enum values stand at allow-listed keys of the frame, sorted, and look like identifiers.", checkEnums),
}

// EnumKeys are the keys whose string values a shape keeps.
func EnumKeys() []string {
	return []string{"type", "role", "status", "subtype", "method", "sessionUpdate", "stop_reason", "stopReason", "outcome", "kind"}
}

const (
	plainStep  = `\.[A-Za-z_$][A-Za-z0-9_$-]*`
	quotedStep = `\['(?:[^'\\]|\\.)*'\]`
	anyStep    = plainStep + `|\.\{key\}|` + quotedStep + `|\[[^\]'\s]*\]`
)

var (
	shapePath = regexp.MustCompile(`^\$(?:` + anyStep + `)*$`)
	lastKey   = regexp.MustCompile(`\.([A-Za-z_$][A-Za-z0-9_$-]*)$`)
	// enumValue is a short identifier, or the placeholder for a value that is none.
	enumValue = regexp.MustCompile(`^(?:[A-Za-z0-9_$][A-Za-z0-9_$./:-]{0,63}|<enum>)$`)
)

func comparePaths(a, b PathShape) int {
	return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(string(a.Type), string(b.Type)))
}

func checkDirections(s Shape, report reporter) {
	streams := map[FrameDirection]FrameStream{ServerToCLI: FrameStream(Stdin), CLIToServer: FrameStream(Stdout), FromProcess: FrameStream(StreamNone)}
	for i, f := range s.FrameShapes {
		if want := streams[f.Direction]; f.Stream != want {
			report(pointer("frame_shapes", i, "stream"), "the stream does not belong to the direction", "write "+string(want))
		}
		if f.Direction == ServerToCLI && !s.ProtocolFamily.IsRPC() {
			report(pointer("frame_shapes", i, "direction"), "only RPC families record what the CLI was sent", "leave the entry out")
		}
		if f.Direction != FromProcess {
			continue
		}
		if !slices.Contains(processEventTypes, f.EventType) || len(f.Paths) > 0 || len(f.Enums) > 0 || len(s.FrameShapes) > 1 {
			report(pointer("frame_shapes", i), "the process is a frame only where nothing else is, and has no content", oneOf(processEventTypes)+" as event_type, with empty paths and enums")
		}
	}
}

// processEventTypes are the event types of a shape without any frame.
var processEventTypes = []string{"process.exit", "process.timeout", "process.kill"}

func checkEnums(s Shape, report reporter) {
	for i, f := range s.FrameShapes {
		strs := map[string]bool{}
		for _, p := range f.Paths {
			if p.Type == "string" {
				strs[p.Path] = true
			}
		}
		for _, path := range slices.Sorted(maps.Keys(f.Enums)) {
			at := pointer("frame_shapes", i, "enums", path)
			key := lastKey.FindStringSubmatch(path)
			if key == nil || !slices.Contains(EnumKeys(), key[1]) {
				report(at, "values of this key are no enum", "keep values only at the keys "+strings.Join(EnumKeys(), ", "))
			} else if !strs[path] {
				report(at, "the frame has no string at this path", "list the path with type string, or leave its enum out")
			}
			values := f.Enums[path]
			if len(values) == 0 || !slices.IsSorted(values) || len(slices.Compact(slices.Clone(values))) != len(values) {
				report(at, "the values are not sorted, not unique or none", "list each value once, sorted bytewise")
			}
			for j, value := range values {
				if !enumValue.MatchString(value) {
					report(at+pointer(j), "the value does not look like an identifier", "write <enum> instead of it")
				}
			}
		}
	}
}
