package lint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/open-design/agent-cli-contracts/internal/usage"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// grown is the base tree with many more observations of one shape. They differ in all that real ones differ in.
func grown(tb testing.TB, observations int) files {
	f := base(tb)
	const stem = "observations/acme/1.0.0/linux-x64/2026-02-10T100001Z.greet"
	raw := strings.TrimPrefix(string(contract.HashBytes([]byte("raw 1"))), "sha256:")
	for i := range observations {
		at := fmt.Sprintf("2026-%02d-%02dT%02d:%02d:%02dZ", 3+i/2678400, 1+i/86400%31, i/3600%24, i/60%60, i%60)
		to := strings.Replace(stem, "2026-02-10T100001Z", strings.ReplaceAll(at, ":", ""), 1)
		fresh := strings.NewReplacer("2026-02-10T10:00:01Z", at, raw, strings.TrimPrefix(string(contract.HashBytes([]byte(at))), "sha256:"))
		for _, suffix := range []string{".observation.json", ".evidence.json"} {
			f[to+suffix] = []byte(fresh.Replace(string(f[stem+suffix])))
		}
	}
	if err := f.generate(); err != nil {
		tb.Fatal(err)
	}
	return f
}

// BenchmarkRun lints trees of growing size; the time per observation must stay the same.
func BenchmarkRun(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		if n > 10_000 && testing.Short() {
			continue
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			tree := grown(b, n).tree(b)
			before := usage.CPU()
			for b.Loop() {
				if findings := lint(b, tree); len(findings) > 0 {
					b.Fatal(findings)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/observation")
			b.ReportMetric(float64((usage.CPU()-before).Microseconds())/float64(b.N*n), "cpu-µs/observation")
		})
	}
}

// BenchmarkDigest is what validating an unchanged tree costs: opening it and reading every byte.
func BenchmarkDigest(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		if n > 10_000 && testing.Short() {
			continue
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			if err := grown(b, n).write(dir); err != nil {
				b.Fatal(err)
			}
			before := usage.CPU()
			for b.Loop() {
				tree, err := registry.OpenTree(dir)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := tree.Digest(); err != nil {
					b.Fatal(err)
				}
				tree.Close()
			}
			b.ReportMetric((usage.CPU()-before).Seconds()/float64(b.N), "cpu-s")
		})
	}
}
