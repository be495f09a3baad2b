package capture

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/replay"
)

// write builds the records of a run and writes them as one transaction under Out/registry.
func (c *Capturer) write(r *run, runs int) (*Result, error) {
	root := filepath.Join(c.Out, "registry")
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, fmt.Errorf("creating the output tree: %w", err)
	}
	// From here on no other capture writes into the tree: both could take the same path for their observations.
	tx, err := registry.Begin(root, fmt.Sprintf("%s-%s-%s", r.target.Agent.ID, contract.At(r.at).PathStem(), r.driven.raw.Hash().FileStem()[7:19]))
	if err != nil {
		return nil, err
	}
	defer tx.Abort()
	tree, err := registry.OpenTree(root)
	if err != nil {
		return nil, err
	}
	defer tree.Close() //nolint:errcheck // read only
	tree.Overlay(c.Base)
	o, e, err := c.observation(r, runs)
	if err != nil {
		return nil, err
	}
	if err := nextFree(&o, tree.Has); err != nil {
		return nil, err
	}
	files := map[contract.RelPath][]byte{}
	if err := c.shapeFiles(r, &e, tree, files); err != nil {
		return nil, err
	}
	for path, record := range map[contract.RelPath]any{registry.EvidencePath(o): e, registry.ObservationPath(o): o} {
		if files[path], err = contract.Marshal(record); err != nil {
			return nil, err
		}
	}
	if err := checkFiles(r.place.scanner, files); err != nil {
		return nil, c.private(r, err)
	}
	for path, data := range files {
		if err := tx.Put(path, data); err != nil {
			return nil, err
		}
	}
	if whole := len(tree.Files("agents/")) > 0; whole && c.Derive != nil {
		if err := tx.Derive(c.Derive); err != nil {
			return nil, err
		}
	}
	if err := tx.Commit(); err != nil {
		return nil, err
	}
	c.progress("%s: %s: %s", o.Probe, registry.ObservationPath(o), o.Shape.Signature)
	return &Result{Observation: o, Evidence: e, Shape: r.shape, Events: r.events, Path: registry.ObservationPath(o), Findings: r.findings}, nil
}

// shapeFiles adds shape, fixture and golden where neither the tree nor its base has them. The fixture of the
// first accepted run stays.
func (c *Capturer) shapeFiles(r *run, e *contract.Evidence, tree *registry.Tree, files map[contract.RelPath][]byte) error {
	signature, family := r.shape.Shape.Signature, r.mode.Family
	fixture := registry.FixturePath(family, signature)
	if tree.Has(fixture) {
		data, err := tree.Read(fixture)
		if err != nil {
			return err
		}
		e.FixtureSHA256 = contract.HashBytes(data)
	} else {
		var out bytes.Buffer
		if err := r.sanitized.WriteJSONL(&out); err != nil {
			return err
		}
		files[fixture] = out.Bytes()
	}
	var err error
	if path := registry.ShapePath(family, signature); !tree.Has(path) {
		if files[path], err = contract.Marshal(r.shape.Shape); err != nil {
			return err
		}
	}
	path := registry.GoldenPath(registry.ReferenceParser, family, signature)
	if !tree.Has(path) {
		if files[path], err = replay.MarshalReference(signature, r.events); err != nil {
			return err
		}
	}
	return nil
}

// checkFiles validates the records and scans every file before any of them becomes public.
func checkFiles(scanner *scan.Scanner, files map[contract.RelPath][]byte) error {
	var problems contract.Problems
	for path, data := range files {
		if len(data) > registry.MaxFileSize {
			return &SizeError{"file " + string(path), int64(len(data)), registry.MaxFileSize}
		}
		switch {
		case strings.HasSuffix(string(path), ".observation.json"):
			problems = append(problems, contract.Validate(contract.KindObservation, string(path), data)...)
		case strings.HasSuffix(string(path), ".evidence.json"):
			problems = append(problems, contract.Validate(contract.KindEvidence, string(path), data)...)
		case strings.HasSuffix(string(path), ".shape.json"):
			problems = append(problems, contract.Validate(contract.KindShape, string(path), data)...)
		}
	}
	if len(problems) > 0 {
		return fmt.Errorf("the capture made an invalid record: %w", problems)
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if hits := scanner.Scan(files[path]); len(hits) > 0 {
			return &redact.Failure{
				Rule: "scan/" + hits[0].Rule, File: string(path),
				Remedy: "a file that would become public matches a secret rule: find out by what way the value got past the transcript",
			}
		}
	}
	return nil
}
