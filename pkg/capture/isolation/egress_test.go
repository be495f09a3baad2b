package isolation

import (
	"context"
	"encoding/binary"
	"net"
	"slices"
	"testing"
)

func TestLookupOverTCP(t *testing.T) {
	packets, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	streams, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := newResolver(packets, streams, nil)
	ask := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp4", streams.Addr().String())
	}}
	if _, err := ask.LookupHost(t.Context(), "tcp.vendor.example"); err == nil {
		t.Error("an address was found")
	}
	r.close()
	if got := r.list(); !slices.Contains(got, "tcp.vendor.example") {
		t.Errorf("look-ups %q", got)
	}
}

func FuzzQuestion(f *testing.F) {
	query := append(make([]byte, 4), 0, 1, 0, 0, 0, 0, 0, 0)
	query = append(query, "\x03api\x07example\x00\x00\x01\x00\x01"...)
	f.Add(query)
	f.Add(query[:len(query)-2])
	f.Add(binary.BigEndian.AppendUint64(nil, 1<<16))
	f.Fuzz(func(t *testing.T, query []byte) {
		r := &resolver{names: map[string]bool{}}
		answer := r.answer(query)
		if answer != nil && (len(answer) > len(query) || answer[2]&0x80 == 0 || answer[3]&0xf != 2) {
			t.Errorf("answer %x", answer)
		}
	})
}
