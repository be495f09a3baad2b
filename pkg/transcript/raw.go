package transcript

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"sync"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// ErrSecret is returned by everything that would turn a Raw into text.
var ErrSecret = errors.New("transcript: raw bytes are secret; redact them first")

// Raw is the unredacted record of one run. Its bytes lie in a spool file of mode 0600 that was unlinked when it was
// made, so they disappear with the process. Close frees it earlier.
type Raw struct {
	spool   *os.File
	size    int64
	length  int64 // of the bundle
	entries int
	hash    contract.Hash
	streams map[contract.StreamName]contract.Hash
}

// Format keeps Raw out of logs and messages, whatever verb prints it.
func (r *Raw) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "transcript.Raw(secret)") }

// MarshalJSON refuses.
func (r *Raw) MarshalJSON() ([]byte, error) { return nil, ErrSecret }

// MarshalText refuses.
func (r *Raw) MarshalText() ([]byte, error) { return nil, ErrSecret }

// Len is the number of entries.
func (r *Raw) Len() int { return r.entries }

// BundleSize is how many bytes WriteBundle writes.
func (r *Raw) BundleSize() int64 { return r.length }

// Hash is the SHA-256 of the JSONL bundle that WriteBundle writes.
func (r *Raw) Hash() contract.Hash { return r.hash }

// StreamHash is the SHA-256 over the concatenated bytes of one stream, and whether the stream had any.
func (r *Raw) StreamHash(name contract.StreamName) (contract.Hash, bool) {
	h, ok := r.streams[name]
	return h, ok
}

// Close frees the spool. The Raw is unusable afterwards.
func (r *Raw) Close() error { return r.spool.Close() }

// Each hands the entries to fn in record order. An entry's bytes are valid only until fn returns.
func (r *Raw) Each(fn func(Entry) error) error {
	br := bufio.NewReaderSize(io.NewSectionReader(r.spool, 0, r.size), 1<<18)
	var buf []byte
	for i := 0; i < r.entries; i++ {
		e, err := readRecord(br, &buf)
		if err != nil {
			return fmt.Errorf("reading the spool at entry %d: %w", i, err)
		}
		if err := fn(e); err != nil {
			return err
		}
	}
	return nil
}

// WriteBundle writes the raw JSONL bundle. The caller owns the secrecy of w: it must encrypt, or be a private file
// that somebody asked for by name.
func (r *Raw) WriteBundle(w io.Writer) error {
	bw := bufio.NewWriterSize(w, 1<<18)
	var buf []byte
	err := r.Each(func(e Entry) error {
		buf = append(e.AppendJSON(buf[:0]), '\n')
		_, err := bw.Write(buf)
		return err
	})
	if err != nil {
		return err
	}
	return bw.Flush()
}

// Recorder records one run. Its methods may be called from several goroutines; entries keep the order of the calls.
type Recorder struct {
	mu      sync.Mutex
	spool   *os.File
	w       *bufio.Writer
	bundle  hash.Hash
	length  int64 // of the bundle
	streams map[contract.StreamName]hash.Hash
	size    int64
	entries int
	lastMs  int64
	buf     []byte
	err     error
	// deferred leaves the hashes to Finish: what records must not wait for them.
	deferred bool
}

// Format keeps the bytes of the last entry out of logs and messages.
func (r *Recorder) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "transcript.Recorder(secret)")
}

// NewRecorder opens a spool in dir (the run's private folder).
func NewRecorder(dir string) (*Recorder, error) {
	f, err := OpenSpool(dir)
	if err != nil {
		return nil, err
	}
	return &Recorder{spool: f, w: bufio.NewWriterSize(f, 1<<18), bundle: sha256.New(), streams: map[contract.StreamName]hash.Hash{}}, nil
}

// NewTape opens a spool like NewRecorder for a recording that must keep up with the stream: hashes are left to Finish.
func NewTape(dir string) (*Recorder, error) {
	r, err := NewRecorder(dir)
	if err == nil {
		r.deferred = true
	}
	return r, err
}

// OpenSpool makes an unlinked file of mode 0600 in dir. Where an open file cannot be unlinked (Windows) it is removed
// by the operating system or with dir.
func OpenSpool(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".spool-*")
	if err != nil {
		return nil, fmt.Errorf("opening a spool: %w", err)
	}
	_ = os.Remove(f.Name())
	return f, nil
}

// Record appends an entry. Offsets are forced to be monotonic: concurrent readers may stamp a chunk before and
// record it after another. The first error is kept and returned by Finish.
func (r *Recorder) Record(e Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	tag, ok := tagOf(e)
	if !ok {
		r.err = errors.New("an entry's stream does not belong to its direction")
		return
	}
	e.AtMs = max(e.AtMs, r.lastMs)
	r.lastMs = e.AtMs
	if !r.deferred {
		r.hash(e)
	}
	r.buf = appendRecord(r.buf[:0], tag, e)
	_, r.err = r.w.Write(r.buf)
	r.size += int64(len(r.buf))
	r.entries++
}

// hash adds an entry to the hashes of the bundle and of its stream.
func (r *Recorder) hash(e Entry) {
	r.buf = append(e.AppendJSON(r.buf[:0]), '\n')
	r.bundle.Write(r.buf)
	r.length += int64(len(r.buf))
	if len(e.Data) > 0 {
		h := r.streams[e.Stream]
		if h == nil {
			h = sha256.New()
			r.streams[e.Stream] = h
		}
		h.Write(e.Data)
	}
}

// errFinished stops a reader that outlives the recording, as after a kill.
var errFinished = errors.New("transcript: the recording has ended")

// Finish ends the recording. Later calls of Record do nothing; a second Finish is an error and leaves the first one's
// Raw alone.
func (r *Recorder) Finish() (*Raw, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if errors.Is(r.err, errFinished) {
		return nil, r.err
	}
	if r.err == nil {
		r.err = r.w.Flush()
	}
	raw := &Raw{spool: r.spool, size: r.size, entries: r.entries, streams: map[contract.StreamName]contract.Hash{}}
	if r.err == nil && r.deferred {
		r.err = raw.Each(func(e Entry) error { r.hash(e); return nil })
	}
	if r.err != nil {
		_ = r.spool.Close()
		err := fmt.Errorf("writing the spool: %w", r.err)
		r.err = errFinished
		return nil, err
	}
	r.err = errFinished
	raw.hash, raw.length = sum(r.bundle), r.length
	for name, h := range r.streams {
		raw.streams[name] = sum(h)
	}
	return raw, nil
}

func sum(h hash.Hash) contract.Hash { return contract.HashSum([sha256.Size]byte(h.Sum(nil))) }

// ReadBundle reads a raw JSONL bundle back into a spool in dir.
func ReadBundle(rd io.Reader, dir string) (*Raw, error) {
	rec, err := NewRecorder(dir)
	if err != nil {
		return nil, err
	}
	var last int64
	n := 0
	err = ReadLines(rd, func(e Entry) error {
		n++
		if e.AtMs < last {
			return &LineError{Line: n, Reason: "at_ms goes back in time"}
		}
		last = e.AtMs
		rec.Record(e)
		return nil
	})
	if err != nil {
		_ = rec.spool.Close()
		return nil, fmt.Errorf("reading a raw bundle: %w", err)
	}
	return rec.Finish()
}

// The spool's own form is binary, so that neither side pays for JSON: one tag byte for direction and stream, then
// varints and length-prefixed bytes.
var tags = []struct {
	dir    contract.FrameDirection
	stream contract.StreamName
}{
	{contract.FromProcess, ""}, {contract.ServerToCLI, contract.Stdin}, {contract.CLIToServer, contract.Stdout}, {contract.CLIToServer, contract.Stderr},
}

func tagOf(e Entry) (byte, bool) {
	for i, t := range tags {
		if t.dir == e.Dir && t.stream == e.Stream {
			return byte(i), true
		}
	}
	return 0, false
}

func appendRecord(dst []byte, tag byte, e Entry) []byte {
	dst = append(dst, tag)
	dst = binary.AppendUvarint(dst, uint64(e.AtMs))
	for _, field := range [][]byte{e.Data, []byte(e.Ref), e.Frame, []byte(e.Event), []byte(e.Signal)} {
		dst = binary.AppendUvarint(dst, uint64(len(field)))
		dst = append(dst, field...)
	}
	if e.ExitCode == nil {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	return binary.AppendVarint(dst, int64(*e.ExitCode))
}

func readRecord(br *bufio.Reader, buf *[]byte) (Entry, error) {
	tag, err := br.ReadByte()
	if err != nil {
		return Entry{}, err
	}
	if int(tag) >= len(tags) {
		return Entry{}, errors.New("unknown tag")
	}
	at, err := binary.ReadUvarint(br)
	if err != nil {
		return Entry{}, err
	}
	var ends [5]int
	*buf = (*buf)[:0]
	for i := range ends {
		n, err := binary.ReadUvarint(br)
		if err != nil {
			return Entry{}, err
		}
		start := len(*buf)
		if need := start + int(n); cap(*buf) < need {
			grown := make([]byte, start, need+need/4)
			copy(grown, *buf)
			*buf = grown
		}
		*buf = (*buf)[:start+int(n)]
		if _, err := io.ReadFull(br, (*buf)[start:]); err != nil {
			return Entry{}, err
		}
		ends[i] = len(*buf)
	}
	b := *buf
	e := Entry{Dir: tags[tag].dir, Stream: tags[tag].stream, AtMs: int64(at), Data: b[:ends[0]],
		Ref: string(b[ends[0]:ends[1]]), Event: contract.ProcessEvent(b[ends[2]:ends[3]]), Signal: string(b[ends[3]:ends[4]])}
	if ends[2] > ends[1] {
		e.Frame = b[ends[1]:ends[2]]
	}
	has, err := br.ReadByte()
	if err != nil {
		return Entry{}, err
	}
	if has == 1 {
		code, err := binary.ReadVarint(br)
		if err != nil {
			return Entry{}, err
		}
		n := int(code)
		e.ExitCode = &n
	}
	return e, nil
}
