package scan

// privateAddress is an IPv4 address of RFC 1918.
const privateAddress = `(?:10\.[0-9]{1,3}|192\.168|172\.(?:1[6-9]|2[0-9]|3[01]))\.[0-9]{1,3}\.[0-9]{1,3}`

// addressRules find addresses that carry a secret or name an account.
var addressRules = []Rule{
	{
		ID:       "own/url-password",
		Purpose:  "A URL with a user's password.",
		Keywords: []string{"://"},
		Pattern:  `[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s/?#@"'<>:\\]{0,128}:([^\s/?#@"'<>\\]{1,256})@`,
		Except:   `\$\{?[A-Za-z_][A-Za-z0-9_]*\}?|\{[A-Za-z_]{1,32}\}`,
		Match:    []string{"https://fake:n0t-real@redacted.invalid/", "postgres://:fake@db/x"},
		NoMatch:  []string{"https://redacted.invalid/", "https://<user>:<token>@host/", "http://localhost:8080/@scope/name", "https://user:$PASSWORD@host/"},
	},
	{
		ID:       "own/signed-url",
		Purpose:  "A URL with a signature or the name of a signing key.",
		Keywords: []string{"x-amz-", "x-goog-", "signature=", "sig=", "accesskeyid=", "googleaccessid="},
		Pattern:  `(?i)[?&;](?:x-amz-(?:signature|security-token|credential)|x-goog-(?:signature|credential)|signature|sig|awsaccesskeyid|googleaccessid)=([A-Za-z0-9%+/=_.@-]{6,})`,
		Match:    []string{"https://redacted.invalid/?X-Amz-Signature=fakefake00", "?se=1&sig=ZmFrZWZha2U%3D", "&X-Goog-Signature=fake0fake0", "?Signature=FAKE+fake/0=", "&amp;sig=fakefake0"},
		NoMatch:  []string{"?sig=<token>", "?signature=", "signature=function", "&design=fakefake"},
	},
	{
		ID:      "own/webhook",
		Purpose: "The address of a chat webhook, which is a secret as a whole.",
		Keywords: []string{"hooks.slack.com/", "/api/webhooks/", "/open-apis/bot/", "webhook.office.com/", "oapi.dingtalk.com/robot/",
			"qyapi.weixin.qq.com/cgi-bin/webhook/"},
		Pattern: `(?i)hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9_/+-]{4,}|discord(?:app)?\.com/api/webhooks/[0-9]+/[A-Za-z0-9_-]{4,}` +
			`|(?:feishu\.cn|larksuite\.com|larkoffice\.com)/open-apis/bot/(?:v[0-9]+/)?hook/[A-Za-z0-9_-]{4,}|webhook\.office\.com/webhookb2/[A-Za-z0-9@/_-]{4,}` +
			`|oapi\.dingtalk\.com/robot/send\?access_token=[A-Za-z0-9]{4,}|qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=[A-Za-z0-9-]{4,}`,
		Match: []string{"https://hooks.slack.com/services/TFAKE/BFAKE/fakefake", "https://discord.com/api/webhooks/0000/fake-fake", "https://open.feishu.cn/open-apis/bot/v2/hook/fake-fake",
			"https://open.larksuite.com/open-apis/bot/v2/hook/fake-fake", "https://fake.webhook.office.com/webhookb2/fake@fake"},
		NoMatch: []string{"https://hooks.slack.com/services/<token>", "https://api.slack.com/messaging/webhooks", "https://open.feishu.cn/open-apis/bot/v2/hook/"},
	},
	{
		ID:       "own/metadata-address",
		Purpose:  "The address of a cloud's metadata service.",
		Keywords: []string{"169.254.169.254", "169.254.170.", "100.100.100.200", "metadata.google.internal", "fd00:ec2::254"},
		Pattern:  `(?i)(?:^|[^0-9.])(169\.254\.169\.254|169\.254\.170\.2[0-9]?|100\.100\.100\.200)(?:[^0-9]|$)|metadata\.google\.internal|fd00:ec2::254`,
		Match:    []string{"http://169.254.169.254/latest", "169.254.170.2", "http://metadata.google.internal/x", "[fd00:ec2::254]"},
		NoMatch:  []string{"169.254.0.1", "1169.254.169.2545"},
	},
	{
		ID:       "own/metadata-token",
		Purpose:  "A session token of a cloud's metadata service.",
		Keywords: []string{"metadata-token", "container-authorization", "credentials_relative_uri"},
		Pattern:  `(?i)(?:x-aws-ec2-metadata-token|container-authorization[-_]token|aws_container_credentials_relative_uri)["']?\s{0,8}[:=]\s{0,8}["']?([^\s"'<>\\]{6,})`,
		Except:   variable,
		Match:    []string{"X-aws-ec2-metadata-token: FAKEfake0==", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI=/v2/fake"},
		NoMatch:  []string{"X-aws-ec2-metadata-token: <token>", "X-aws-ec2-metadata-token-ttl-seconds: 60"},
	},
	{
		ID:       "own/private-address",
		Purpose:  "An address in a private network, or a cloud host's name made of one.",
		Keywords: []string{"10.", "192.168.", "172.", "ip-10-", "ip-172-", "ip-192-168-"},
		// Four numbers may also be a version, so a bare address needs a port, a mask, a user or a scheme around it.
		Pattern: `(?i)(?:(?:://|@|\bhost[=: ]{1,3}"?)(` + privateAddress + `)(?:[^0-9.]|\.?$)|(?:^|[^0-9.A-Za-z-])(` + privateAddress + `(?::[0-9]{2,5}|/[0-9]{1,2}))(?:[^0-9.]|$)` +
			`|\bip-(?:10|172|192)-[0-9]{1,3}-[0-9]{1,3}-[0-9]{1,3}\b)`,
		Match:   []string{"http://10.1.2.3/", "10.20.30.40:8080", "deploy@192.168.1.20", "dial tcp 172.16.0.9:443", "ip-10-0-0-5.ec2.internal", "10.0.0.0/8"},
		NoMatch: []string{"http://127.0.0.1:8080/", "10.1.2.3", "version 10.20.30.40-beta", "172.217.1.1:443", "192.169.1.1:80", "110.1.2.3:80", "ip-address"},
	},
	{
		ID:       "own/email",
		Purpose:  "An e-mail address.",
		Keywords: []string{"@"},
		Pattern:  `([A-Za-z0-9._%+-]*[A-Za-z0-9_%+-]@(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+[A-Za-z]{2,24})\b`,
		// The user of a git remote, a package at a version, an image at a scale.
		Except:  `git@[A-Za-z0-9.-]+|[^@]+@[0-9]+\.[0-9]+\.[0-9A-Za-z.-]+|[^@]+@[1-9]x\.[a-z]+`,
		Match:   []string{"nobody@fake.example", "Fake Name <fake.name+x@mail.fake.org>", "fake@163.com"},
		NoMatch: []string{"<email>", "@scope/name@1.2.3", "name@1.2.3-alpha.beta", "actions/checkout@v4", "git@github.com:fake/fake.git", "icon@2x.png", "user@localhost"},
	},
}
