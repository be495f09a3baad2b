package scan

// variable matches a reference to a value in place of one: $NAME, ${NAME}, {name}, NAME, dots or stars.
const variable = `\$\{?[A-Za-z_][A-Za-z0-9_]*\}?|\{[A-Za-z_]{1,32}\}|[A-Z][A-Z_]{1,31}|[.*]+`

// secretName is how the names of secret settings end.
const secretName = `(?:token|api[_-]?key|access[_-]?key|private[_-]?key|secret(?:[_-]?key)?|passw(?:or)?d|passphrase|credentials?)`

var secretNameWords = []string{"token", "apikey", "api_key", "api-key", "accesskey", "access_key", "access-key",
	"privatekey", "private_key", "private-key", "secret", "passwd", "password", "passphrase", "credential"}

// keyRules find keys, tokens and passwords.
var keyRules = []Rule{
	{
		ID:       "own/assignment",
		Purpose:  "A setting with the name of a secret is given a value, as in a shell, a query string or a form.",
		Keywords: secretNameWords,
		Pattern:  `(?i:` + secretName + `)["']?=["']?([^\s"'<>&;,=()\]}\\]{3,})`,
		near:     assigned(3, settingByte),
		Except:   variable + `|true|false|null|none|undefined|[0-9]{1,7}|\{[a-z_]{1,32}`,
		Match:    []string{"token=sk-live", "API_KEY=fake-but-long-enough", "x-api-key='FAKEvalue1'", "password=hunter2fake", "?access_token=fake0fake0&x"},
		NoMatch:  []string{"token=<token>", "max_tokens=4096", "token=$TOKEN", "--api-key=KEY", "secret={secret}", "secret == other", "token = options.token;", "api_key=0", "token=PHRleHQ+"},
	},
	{
		ID:       "own/quoted-assignment",
		Purpose:  "A setting with the name of a secret is given a quoted value, as in JSON, YAML or source text.",
		Keywords: secretNameWords,
		Pattern:  `(?i:` + secretName + `)["']?[ \t]{0,3}[:=]{1,2}[ \t]{0,3}["']([^\s"'<>\\]{8,})["']`,
		near:     assigned(3, settingByte),
		Except:   variable + `|[A-Za-z_./ -]+|[0-9]{1,7}|sha256:[0-9a-f]{64}`,
		Match:    []string{`"access_token":"fake-0123456789"`, `apiKey: 'FAKE0fake0FAKE0'`, `PASSWORD = "n0t-a-real-one"`, `"client_secret" : "fake+fake/0=="`},
		NoMatch:  []string{`"token":"<token>"`, `"token":" the"`, `"type":"token"`, `"max_tokens":"1000"`, `"api_key":"00000000-0000-4000-8000-000000000001"`, `"secret":"required-value"`},
	},
	{
		ID:       "own/sk-key",
		Purpose:  "A key of a model vendor or payment service that begins with sk-.",
		Keywords: []string{"sk-"},
		Pattern:  `(?:^|[^A-Za-z0-9])(sk-(?:ant|proj|or-v1|live|test|svcacct|admin)(?:[-_][A-Za-z0-9_-]*)?\b|sk-[A-Za-z0-9_-]{20,})`,
		Except:   `sk-[a-z]+(?:-[a-z]+){2,}`,
		Match:    []string{"sk-live", "sk-live-FAKE0", "sk-ant-oat01-FAKEfake_FAKE-0", "sk-ant-sid01-FAKE", "sk-proj-FAKEfake0", "sk-or-v1-0000fake0000", "sk-FAKE0FAKE1FAKE2FAKE3FAKE"},
		NoMatch:  []string{"task-live-now", "sk-learn", "sk-SK", "a disk-test", "sk-antenna", "sk-<token>", "sk-some-words-that-are-long-enough"},
	},
	{
		ID:       "own/oauth-token",
		Purpose:  "An OAuth access or refresh token that begins with ya29. or 1//0.",
		Keywords: []string{"ya29.", "1//0"},
		Pattern:  `ya29\.[A-Za-z0-9_-]{8,}|\b1//0[A-Za-z0-9_-]{20,}`,
		Match:    []string{"ya29.FAKE-fake_FAKE0", "1//0FAKEfakeFAKEfakeFAKEfake"},
		NoMatch:  []string{"ya29.", "ya29.<token>", "1//0 is no number"},
	},
	{
		ID:       "own/authorization",
		Purpose:  "An Authorization header with credentials.",
		Keywords: []string{"authorization"},
		Pattern:  `(?i)authorization["']?\s{0,8}[:=]\s{0,8}["']?(?:bearer|basic|token)\s{1,8}([^\s"'<>\\]{4,})`,
		Except:   variable,
		Match:    []string{"Authorization: Bearer FAKE0fake", `"authorization":"Basic ZmFrZTpmYWtl"`, "authorization: token\n  fake0fake0"},
		NoMatch:  []string{"Authorization: Bearer <token>", "Authorization: Bearer $TOKEN", `"authorization":"<token>"`, "authorization required"},
	},
	{
		ID:       "own/cookie",
		Purpose:  "A cookie header with a value.",
		Keywords: []string{"cookie"},
		Pattern:  `(?i)\b(?:set-)?cookie["']?\s{0,8}[:=]\s{0,8}["']?[A-Za-z0-9_.$-]{1,64}=([^\s"'<>;,\\]{8,})`,
		Except:   variable,
		Match:    []string{"Cookie: session=FAKE0fake", `"set-cookie":"__Host-sid=fake-0123456789; Path=/"`, "cookie: a.b=FAKEfake%3D"},
		NoMatch:  []string{"Cookie: session=<token>", "cookie=1", "Set-Cookie: theme=dark", "cookies are required", "Cookie: $COOKIE_HEADER"},
	},
	{
		ID:       "own/bearer",
		Purpose:  "A bearer token without its header's name.",
		Keywords: []string{"bearer"},
		Pattern:  `(?i)\bbearer[\s+]{1,8}([A-Za-z0-9._~+/=-]{12,})`,
		Except:   `[A-Za-z/.-]+`,
		Match:    []string{"Bearer FAKE0fake0FAKE0fake", "bearer\n 0000.fake.0000"},
		NoMatch:  []string{"Bearer <token>", "bearer authentication", "bearer token-authentication", "forbearer of 0123456789012"},
	},
	{
		ID:       "own/key-prefix",
		Purpose:  "A vendor key that begins with key_.",
		Keywords: []string{"key_"},
		Pattern:  `(?:^|[^A-Za-z0-9_])(key_[A-Za-z0-9]{32,})`,
		Match:    []string{"key_0000fake0000fake0000fake0000fake"},
		NoMatch:  []string{"api_key_name", "key_id", "key_0000fake", "<key:1>"},
	},
	{
		ID:       "own/xai-key",
		Purpose:  "A model vendor's key that begins with xai-.",
		Keywords: []string{"xai-"},
		Pattern:  `(?:^|[^A-Za-z0-9])(xai-[A-Za-z0-9]{20,})`,
		Match:    []string{"xai-FAKE0fake0FAKE0fake0FAKE"},
		NoMatch:  []string{"xai-sdk", "relaxai-0123456789012345678901"},
	},
	{
		ID:       "own/gsk-key",
		Purpose:  "A model vendor's key that begins with gsk_.",
		Keywords: []string{"gsk_"},
		Pattern:  `(?:^|[^A-Za-z0-9])(gsk_[A-Za-z0-9]{20,})`,
		Match:    []string{"gsk_FAKE0fake0FAKE0fake0FAKE"},
		NoMatch:  []string{"gsk_version", "msgsk_0123456789012345678901"},
	},
	{
		ID:       "own/jwt",
		Purpose:  "A signed or encrypted JSON web token.",
		Keywords: []string{"eyj"},
		Pattern:  `\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{6,}`,
		Match:    []string{"eyJmYWtlIjowfQ.eyJmYWtlIjoxfQ.ZmFrZWZha2U"},
		NoMatch:  []string{"eyJmYWtlIjowfQ", "eyJmYWtlIjowfQ.short.x"},
	},
	{
		ID:       "own/private-key",
		Purpose:  "The head of a private key in PEM or OpenPGP armour.",
		Keywords: []string{"private key"},
		Pattern:  `-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----`,
		Match:    []string{"-----BEGIN PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----", "-----BEGIN PGP PRIVATE KEY BLOCK-----"},
		NoMatch:  []string{"-----BEGIN CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----"},
	},
}
