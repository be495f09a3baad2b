package modelserver

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// bodyTimeout bounds how long a CLI may take to send one request.
const bodyTimeout = 60 * time.Second

var (
	errTooLarge = errors.New("the request body is too large")
	errEncoding = errors.New("the request body has an unknown Content-Encoding; identity, gzip and zstd are read")
	errClosing  = errors.New("the server is closing")
)

// readBody returns the decoded body of a request.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	select {
	case s.reading <- struct{}{}:
		defer func() { <-s.reading }()
	case <-s.closing:
		return nil, errClosing
	}
	// The deadline must be lifted again: left in place, it would end a stall that outlasts it.
	conn := http.NewResponseController(w)
	if err := conn.SetReadDeadline(time.Now().Add(bodyTimeout)); err != nil {
		return nil, fmt.Errorf("setting the read deadline: %w", err)
	}
	defer conn.SetReadDeadline(time.Time{}) //nolint:errcheck // the connection is gone then, and reading said so

	// What is compressed is capped as well: a decoder skips some of its input without giving any output.
	wire := &cappedReader{r: r.Body, left: s.cfg.MaxRequestBytes}
	return decodeBody(wire, r.Header.Get("Content-Encoding"), s.cfg.MaxRequestBytes)
}

// decodeBody reads body to its end and undoes its encoding. It gives up with errTooLarge once the decoded bytes
// exceed limit, so a small compressed body cannot grow without bound.
func decodeBody(body io.Reader, encoding string, limit int64) ([]byte, error) {
	decoded := body
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
	case "gzip":
		zr, err := gzip.NewReader(body)
		if err != nil {
			return nil, fmt.Errorf("opening the gzip body: %w", err)
		}
		decoded = zr
	case "zstd":
		zr, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, fmt.Errorf("opening the zstd body: %w", err)
		}
		defer zr.Close()
		decoded = zr
	default:
		return nil, errEncoding
	}
	var buf bytes.Buffer
	if _, err := buf.ReadFrom(&cappedReader{r: decoded, left: limit}); err != nil {
		return nil, fmt.Errorf("reading the request body: %w", err)
	}
	return buf.Bytes(), nil
}

// cappedReader reads left bytes and fails with errTooLarge if there are more.
type cappedReader struct {
	r    io.Reader
	left int64
}

func (c *cappedReader) Read(p []byte) (int, error) {
	// One byte more than allowed tells a body of exactly the limit from a larger one.
	if int64(len(p)) > c.left+1 {
		p = p[:c.left+1]
	}
	n, err := c.r.Read(p)
	if int64(n) > c.left {
		n, err = int(c.left), errTooLarge
	}
	c.left -= int64(n)
	return n, err
}
