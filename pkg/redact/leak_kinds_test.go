package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"unicode/utf16"
)

// planted is a made-up value. Core is the part of it that nobody may learn; the rest is public form.
type planted struct{ text, core string }

const (
	upper    = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lower    = "abcdefghijklmnopqrstuvwxyz"
	digits   = "0123456789"
	hexChars = "0123456789abcdef"
	alnum    = upper + lower + digits
	base64s  = alnum + "+/"
	urlSafe  = alnum + "-_"
)

// kinds are the secrets that the bench plants. Scan says that the second gate alone must find the value too, bare and
// in every encoding; the others have no form of their own, so only the first gate stands before them.
var kinds = []struct {
	name string
	scan bool
	make func(r func(alphabet string, n int) string) planted
}{
	{"openai key", true, prefixed("sk"+"-proj-", urlSafe, 48)},
	{"openai old key", true, prefixed("sk"+"-", alnum, 48)},
	{"anthropic key", true, prefixed("sk"+"-ant-api03-", urlSafe, 93)},
	{"anthropic oauth", true, prefixed("sk"+"-ant-oat01-", urlSafe, 80)},
	{"openrouter key", true, prefixed("sk"+"-or-v1-", hexChars, 64)},
	{"google key", true, prefixed("AI"+"za", urlSafe, 35)},
	{"google oauth", true, prefixed("ya"+"29.", urlSafe, 60)},
	{"xai key", true, prefixed("xa"+"i-", alnum, 80)},
	{"groq key", true, prefixed("gs"+"k_", alnum, 52)},
	{"cursor key", true, prefixed("ke"+"y_", hexChars, 64)},
	{"hugging face token", true, prefixed("hf"+"_", lower+upper, 34)},
	{"perplexity key", true, prefixed("pp"+"lx-", alnum, 48)},
	{"github token", true, prefixed("gh"+"p_", alnum, 36)},
	{"github server token", true, prefixed("gh"+"s_", alnum, 36)},
	{"github fine-grained", true, prefixed("github_"+"pat_", alnum, 82)},
	{"gitlab token", true, prefixed("gl"+"pat-", alnum, 20)},
	{"slack bot token", true, func(r func(string, int) string) planted {
		core := r(alnum, 24)
		return planted{"xo" + "xb-" + r(digits, 12) + "-" + r(digits, 12) + "-" + core, core}
	}},
	{"npm token", true, prefixed("np"+"m_", lower+upper+digits, 36)},
	{"pypi token", true, prefixed("pypi-"+"AgEIcHlwaS5vcmc", urlSafe, 70)},
	{"aws key id", true, prefixed("AK"+"IA", upper+"234567", 16)},
	{"aws pair", true, func(r func(string, int) string) planted {
		core := r(alnum, 1) + r(base64s, 38) + r(alnum, 1)
		return planted{"AK" + "IA" + r(upper+"234567", 16) + " aws_secret_access_key=" + core, core}
	}},
	{"aws secret alone", false, func(r func(string, int) string) planted { s := r(base64s, 40); return planted{s, s} }},
	{"jwt", true, func(r func(string, int) string) planted {
		body := base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"` + r(digits, 10) + `"}`))
		core := r(urlSafe, 43)
		return planted{"eyJhbGciOiJIUzI1NiJ9." + body + "." + core, core}
	}},
	{"pem", true, func(r func(string, int) string) planted {
		core := r(base64s, 64)
		return planted{"-----BEGIN RSA PRIVATE" + " KEY-----\n" + core + "\n" + r(base64s, 64) + "\n-----END RSA PRIVATE" + " KEY-----", core}
	}},
	{"signed url", true, func(r func(string, int) string) planted {
		core := r(hexChars, 64)
		return planted{"https://bucket.s3.amazonaws.com/object?X-Amz-Date=20260101T000000Z&X-Amz-Signature=" + core, core}
	}},
	{"azure sas", true, func(r func(string, int) string) planted {
		core := r(alnum, 43)
		return planted{"https://store.blob.core.windows.net/c?sv=2024-01-01&sig=" + core + "%3D", core}
	}},
	{"slack webhook", true, func(r func(string, int) string) planted {
		core := r(alnum, 24)
		return planted{"https://hooks.slack" + ".com/services/T" + r(upper+digits, 8) + "/B" + r(upper+digits, 8) + "/" + core, core}
	}},
	{"discord webhook", true, func(r func(string, int) string) planted {
		core := r(urlSafe, 68)
		return planted{"https://discord" + ".com/api/webhooks/" + r(digits, 18) + "/" + core, core}
	}},
	{"feishu webhook", true, func(r func(string, int) string) planted {
		core := r(hexChars, 8) + "-" + r(hexChars, 4) + "-" + r(hexChars, 12)
		return planted{"https://open.feishu" + ".cn/open-apis/bot/v2/hook/" + core, core}
	}},
	{"basic auth url", true, func(r func(string, int) string) planted {
		core := r(alnum, 16)
		return planted{"https://deploy:" + core + "@git.internal.example/repo.git", core}
	}},
	{"authorization header", true, func(r func(string, int) string) planted {
		core := r(alnum, 32)
		return planted{"Authorization: Bearer " + core, core}
	}},
	{"assignment", true, func(r func(string, int) string) planted {
		core := r(alnum, 20)
		return planted{"DB_PASSWORD=" + core, core}
	}},
	{"cookie", true, func(r func(string, int) string) planted {
		core := r(alnum, 32)
		return planted{"Set-Cookie: session=" + core + "; Path=/; HttpOnly", core}
	}},
	{"email", true, func(r func(string, int) string) planted {
		core := r(lower, 10)
		return planted{core + "@mail.example.org", core}
	}},
	{"linux home", true, func(r func(string, int) string) planted {
		core := r(lower, 9)
		return planted{"/home/" + core + "/src/project", core}
	}},
	{"macos home", true, func(r func(string, int) string) planted {
		core := r(lower, 9)
		return planted{"/Users/" + core + "/Library", core}
	}},
	{"windows home", true, func(r func(string, int) string) planted {
		core := r(lower, 9)
		return planted{`C:\Users\` + core + `\AppData`, core}
	}},
	{"session folder", true, func(r func(string, int) string) planted {
		core := r(lower, 9)
		return planted{"/projects/-home-" + core + "-work", core}
	}},
	{"user at host", true, func(r func(string, int) string) planted {
		core := r(lower, 9)
		return planted{core + "@build-" + r(digits, 3) + ".corp.internal", core}
	}},
	{"known user at host", true, func(func(string, int) string) planted { return planted{plantedUser + "@" + plantedHost, plantedUser} }},
	{"known value", true, func(func(string, int) string) planted { return planted{plantedKnown, plantedKnown} }},
	{"canary", true, func(func(string, int) string) planted { return planted{plantedCanary, plantedCanary} }},
	{"canary id", true, func(r func(string, int) string) planted {
		return planted{"resp_" + plantedCanary + "_" + r(digits, 1), plantedCanary}
	}},
	{"metadata answer", true, func(r func(string, int) string) planted {
		core := r(base64s, 40)
		return planted{`{"Code":"Success","AccessKeyId":"AS` + `IA` + r(upper+"234567", 16) + `","SecretAccessKey":"` + core + `","Expiration":"2026-01-01T00:00:00Z"}`, core}
	}},
	{"private address", true, func(r func(string, int) string) planted {
		core := fmt.Sprintf("10.%s.%s.1%s:80%s", r("123456789", 2), r("123456789", 2), r(digits, 2), r("123456789", 2))
		return planted{"http://" + core + "/v1", core}
	}},
	{"session id", false, func(r func(string, int) string) planted { s := r(alnum, 20); return planted{s, s} }},
	{"lower-case id", false, func(r func(string, int) string) planted { s := r(lower, 16); return planted{s, s} }},
	{"base36 id", false, func(r func(string, int) string) planted { s := "c" + r(lower+digits, 24); return planted{s, s} }},
	{"hex id", false, func(r func(string, int) string) planted { s := r(hexChars, 24); return planted{s, s} }},
	{"ulid", false, func(r func(string, int) string) planted {
		s := "01" + r("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 24)
		return planted{s, s}
	}},
	{"uuid", false, func(r func(string, int) string) planted {
		s := r(hexChars, 8) + "-" + r(hexChars, 4) + "-4" + r(hexChars, 3) + "-a" + r(hexChars, 3) + "-" + r(hexChars, 12)
		return planted{s, s}
	}},
	{"account number", false, func(r func(string, int) string) planted { s := r("123456789", 12); return planted{s, s} }},
	{"user text", false, func(r func(string, int) string) planted {
		core := r(lower, 12)
		return planted{"please ask " + core + " about the merger", core}
	}},
}

const (
	plantedCanary = "cnry7f3a9c0e5b1d8264f0a1b2c3d4e5f607"
	plantedKnown  = "contracts-dummy-5e0d7c1b9a3f2468"
	plantedUser   = "fakeperson"
	plantedHost   = "fakebuildbox"
)

func prefixed(prefix, alphabet string, n int) func(func(string, int) string) planted {
	return func(r func(string, int) string) planted {
		core := r(alphabet, n)
		return planted{prefix + core, core}
	}
}

// drawer draws random text from a seeded source.
func drawer(rng *rand.Rand) func(string, int) string {
	return func(alphabet string, n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[rng.IntN(len(alphabet))]
		}
		return string(b)
	}
}

// writings are the ways in which a secret is written.
var writings = []struct {
	name  string
	write func(s string, r func(string, int) string) string
}{
	{"plain", func(s string, _ func(string, int) string) string { return s }},
	{"json", func(s string, _ func(string, int) string) string { return quoted(s) }},
	{"json twice", func(s string, _ func(string, int) string) string { return quoted(quoted(s)) }},
	{"json u", func(s string, _ func(string, int) string) string { return each(s, `\u%04x`) }},
	{"c x", func(s string, _ func(string, int) string) string { return each(s, `\x%02X`) }},
	{"base64", func(s string, r func(string, int) string) string {
		return r(alnum, len(s)%4) + base64.StdEncoding.EncodeToString([]byte(r(" ;,", len(s)%3)+s))
	}},
	{"base64url", func(s string, r func(string, int) string) string {
		return base64.RawURLEncoding.EncodeToString([]byte(r("?>;", 1+len(s)%3) + s + "?>"))
	}},
	{"base64 twice", func(s string, _ func(string, int) string) string {
		return base64.StdEncoding.EncodeToString([]byte("a " + base64.StdEncoding.EncodeToString([]byte("b "+s+" c"))))
	}},
	{"hex", func(s string, _ func(string, int) string) string { return hex.EncodeToString([]byte(s)) }},
	{"HEX", func(s string, _ func(string, int) string) string {
		return strings.ToUpper(hex.EncodeToString([]byte("; " + s)))
	}},
	{"percent", func(s string, _ func(string, int) string) string { return each(s, "%%%02x") }},
	{"query", func(s string, _ func(string, int) string) string { return "q=" + url.QueryEscape(s) }},
	{"utf-16le", func(s string, _ func(string, int) string) string { return wideOf(s, 0) }},
	{"utf-16be", func(s string, _ func(string, int) string) string { return wideOf(s, 1) }},
	{"utf-16 base64", func(s string, _ func(string, int) string) string {
		return base64.StdEncoding.EncodeToString([]byte(wideOf(s, 0)))
	}},
	{"ansi", func(s string, _ func(string, int) string) string {
		return "\x1b[1m" + strings.Join(strings.Split(s, ""), "\x1b[38;5;12m") + "\x1b[0m"
	}},
	{"percent base64 json", func(s string, _ func(string, int) string) string {
		return quoted(url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(s + "=?"))))
	}},
}

func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\x1b", `\u001b`, "\x00", `\u0000`).Replace(s) + `"`
}

func each(s, format string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, format, c)
	}
	return b.String()
}

func wideOf(s string, low int) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		pair := [2]byte{}
		pair[low], pair[1-low] = byte(u), byte(u>>8)
		b = append(b, pair[:]...)
	}
	return string(b)
}
