package contract

import "testing"

func TestMatchRange(t *testing.T) {
	// The expectations of the semantic versions are what npm's own semver answers.
	tests := []struct {
		rng string
		in  []string
		out []string
	}{
		{"", []string{"1.2.3", "1.2.3-beta", "2026.11.30-12.05", "nightly"}, nil},
		{"*", []string{"0.0.0", "9.9.9"}, []string{"1.0.0-rc.1", "nightly"}},
		{">=0.133.0 <0.140.0", []string{"0.133.0", "0.139.9"}, []string{"0.132.9", "0.140.0", "0.134.0-alpha.3", "0.140.0-0"}},
		{"0.133.0", []string{"0.133.0"}, []string{"0.133.1", "0.133.0-rc.1"}},
		{"^0.2.3", []string{"0.2.3", "0.2.9"}, []string{"0.2.2", "0.3.0", "0.2.4-rc.1"}},
		{"^0.0.3", []string{"0.0.3"}, []string{"0.0.4"}},
		{"^1.2.3-beta.2", []string{"1.2.3-beta.2", "1.2.3-beta.3", "1.2.3", "1.9.9"}, []string{"1.2.3-alpha.4", "1.2.4-beta.2", "2.0.0", "2.0.0-0"}},
		{"~1.2", []string{"1.2.0", "1.2.9"}, []string{"1.3.0", "1.3.0-0"}},
		{"~>1.2.3", []string{"1.2.3"}, []string{"1.3.0"}},
		{"1.2.x", []string{"1.2.0"}, []string{"1.3.0"}},
		{"1.2 - 2.3", []string{"1.2.0", "2.3.9"}, []string{"2.4.0", "1.1.9"}},
		{"> 1.2", []string{"1.3.0"}, []string{"1.2.9"}},
		{"<=1.2", []string{"1.2.9"}, []string{"1.3.0", "1.3.0-0"}},
		{"<1.2", []string{"1.1.9"}, []string{"1.2.0", "1.2.0-0"}},
		{"<*", nil, []string{"0.0.0", "1.0.0"}},
		{"<1.0.0 || >=2.3.4", []string{"0.9.0", "2.3.4"}, []string{"1.0.0", "2.3.3"}},
		{"2025.09.04-fc40cd1", []string{"2025.09.04-fc40cd1", "2025.9.4-fc40cd1"}, []string{"2025.09.04", "2025.09.04-aaaaaaa"}},
		{"2026.11.30-12.05 || ^1", []string{"2026.11.30-12.05", "1.5.0"}, []string{"2026.11.30-12.06"}},
		{"1.2.3.4", []string{"1.2.3.4"}, []string{"1.2.3"}},
	}
	for _, tt := range tests {
		for want, versions := range map[bool][]string{true: tt.in, false: tt.out} {
			for _, version := range versions {
				if got, err := MatchRange(tt.rng, version); err != nil || got != want {
					t.Errorf("MatchRange(%q, %q) = %v, %v; want %v", tt.rng, version, got, err, want)
				}
			}
		}
	}
}

// A rule of an agent record holds for the prereleases between its bounds too.
func TestMatchReleases(t *testing.T) {
	tests := []struct {
		rng string
		in  []string
		out []string
	}{
		{"", []string{"1.2.3-beta", "nightly"}, nil},
		{"*", []string{"1.0.0-rc.1"}, []string{"nightly"}},
		{">=0.133.0", []string{"0.133.0", "0.162.0-alpha.15"}, []string{"0.133.0-alpha.1", "0.132.0"}},
		{"<0.44.0", []string{"0.44.0-alpha.1", "0.43.9"}, []string{"0.44.0"}},
		{">=0.99.0 <0.133.0", []string{"0.128.0-alpha.1", "0.133.0-alpha.9"}, []string{"0.99.0-alpha.1", "0.162.0-alpha.15"}},
		{"2025.09.04-fc40cd1", []string{"2025.09.04-fc40cd1"}, []string{"2025.09.04-aaaaaaa"}},
	}
	for _, tt := range tests {
		for want, versions := range map[bool][]string{true: tt.in, false: tt.out} {
			for _, version := range versions {
				if got, err := MatchReleases(tt.rng, version); err != nil || got != want {
					t.Errorf("MatchReleases(%q, %q) = %v, %v; want %v", tt.rng, version, got, err, want)
				}
			}
		}
	}
	if _, err := MatchReleases(">=a", "1.0.0"); err == nil {
		t.Error("a range that cannot be read matches")
	}
}

func TestValidRange(t *testing.T) {
	for _, rng := range []string{"", "*", "1", ">=1.2.3 <2", "^1 || ~2.1", "2025.09.04-fc40cd1", "1.2.3-beta.1"} {
		if !ValidRange(rng) {
			t.Errorf("ValidRange(%q) = false", rng)
		}
	}
	for _, rng := range []string{"latest", "verified", ">=", "=>1", ">=latest", "1.2.3 nonsense", "!1.0.0", ">=1.2.3-01", "99999999999999999999.0.0 - 1", ">=1,<2"} {
		if ValidRange(rng) {
			t.Errorf("ValidRange(%q) = true", rng)
		}
		if _, err := MatchRange(rng, "1.0.0"); err == nil {
			t.Errorf("MatchRange(%q) has no error", rng)
		}
	}
}

func TestCompareVersions(t *testing.T) {
	tests := []struct {
		a, b  string
		order int
		ok    bool
	}{
		{"1.2.3", "1.2.3", 0, true},
		{"1.2.3", "1.10.0", -1, true},
		{"1.0.0", "1.0.0-rc.1", 1, true},
		{"1.0.0-rc.2", "1.0.0-rc.10", -1, true},
		{"2025.09.04", "2025.10.01", -1, true},
		{"nightly", "nightly", 0, true},
		{"nightly", "1.0.0", 0, false},
		{"1.2.3.4", "1.2.3.5", 0, false},
	}
	for _, tt := range tests {
		if order, ok := CompareVersions(tt.a, tt.b); order != tt.order || ok != tt.ok {
			t.Errorf("CompareVersions(%q, %q) = %d, %v; want %d, %v", tt.a, tt.b, order, ok, tt.order, tt.ok)
		}
	}
	if !IsPrerelease("0.134.0-alpha.3") || IsPrerelease("0.134.0") || IsPrerelease("nightly") {
		t.Error("IsPrerelease misreads")
	}
}

func TestRangeFloor(t *testing.T) {
	tests := []struct {
		rng, floor string
		ok         bool
	}{
		{">=0.133.0 <0.140.0", "0.133.0", true},
		{"0.133.0", "0.133.0", true},
		{"^2 || 1.5.x", "1.5.0", true},
		{">=1 >=1.4.0", "1.4.0", true},
		{"<2", "", false},
		{"", "", false},
		{"1.2.3.4", "", false},
		{"latest", "", false},
	}
	for _, tt := range tests {
		if floor, ok := RangeFloor(tt.rng); floor != tt.floor || ok != tt.ok {
			t.Errorf("RangeFloor(%q) = %q, %v; want %q, %v", tt.rng, floor, ok, tt.floor, tt.ok)
		}
	}
}

func TestRangesOverlap(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{">=1.0.0 <2.0.0", ">=2.0.0", false},
		{">=1.0.0 <=2.0.0", ">=2.0.0", true},
		{"^1.2", "1.3.0", true},
		{"^1.2", "1.1.0", false},
		{"", "0.1.0", true},
		{"", "1.2.3.4", true},
		{"*", "1.2.3.4", false},
		{"1.2.3.4", "1.2.3.4", true},
		{"1.2.3.4", "1.2.3.5", false},
		{"<*", "<*", false},
		{"<1 || >=3", "1.x || 2.x", false},
		{"<1 || >=3", "2.x || 3.1.0", true},
		{"latest", "", false},
	}
	for _, tt := range tests {
		if got := RangesOverlap(tt.a, tt.b); got != tt.want {
			t.Errorf("RangesOverlap(%q, %q) = %v, want %v", tt.a, tt.b, got, tt.want)
		}
		if got := RangesOverlap(tt.b, tt.a); got != tt.want {
			t.Errorf("RangesOverlap(%q, %q) = %v, want %v", tt.b, tt.a, got, tt.want)
		}
	}
}

func FuzzMatchRange(f *testing.F) {
	f.Add(">=1.2.3-beta <2 || 3.x", "1.5.0")
	f.Add("1 - 2", "2025.09.04-fc40cd1")
	f.Fuzz(func(t *testing.T, rng, version string) {
		ok, err := MatchRange(rng, version)
		if (err == nil) != ValidRange(rng) {
			t.Fatalf("MatchRange and ValidRange disagree about %q", rng)
		}
		if ok && err == nil && !RangesOverlap(rng, rng) {
			t.Fatalf("%q holds a version and does not overlap with itself", rng)
		}
	})
}
