package scan

// pathRules find paths that name a person's account.
var pathRules = []Rule{
	{
		ID:       "own/home-path",
		Purpose:  "A home directory of Linux or macOS.",
		Keywords: []string{"/home/", "/users/"},
		Pattern:  "(?:^|[^A-Za-z0-9_.~-]|/var|/export|/usr|/mnt/[a-z]|/[a-z])/(?:home|Users)/([^\\s/\\\\\"'<>:,;|(){}\\[\\]$*?%&=`]+)",
		Except:   `\.+`,
		Match:    []string{"/home/fake", "/Users/fake/work", "file:///home/fake/x", "/c/Users/fake", "/mnt/c/Users/fake", "/var/home/fake"},
		NoMatch:  []string{"<home>/work", "/home/<user>/x", "/home/$USER", "https://redacted.invalid/home/page", "docs/home/page", "/Users/{name}", "/home/..."},
	},
	{
		ID:       "own/root-path",
		Purpose:  "The home directory of root.",
		Keywords: []string{"/root"},
		Pattern:  "(?:^|[^A-Za-z0-9_./~\\\\$>-]|//)(/root)(?:[\\s/\"'`:,;)\\]}<>|\\\\&]|$)",
		Match:    []string{"/root", "/root/work", `cd "/root"`, "file:///root/x"},
		NoMatch:  []string{"/rooted", "<path>/root", "/x/root/y", "/root-cause", "chroot/"},
	},
	{
		ID:       "own/windows-home",
		Purpose:  "A profile directory of Windows.",
		Keywords: []string{"users", "documents and settings"},
		Pattern:  "(?i)(?:(?:^|[^a-z0-9])[a-z]:[\\\\/]{1,8}|\\\\{1,8})(?:users|documents and settings)[\\\\/]{1,8}([^\\s\\\\/\"'<>:|*?%$,;(){}]+)",
		Except:   `\.+|u003c[a-z]*`, // "<", escaped in JSON, behind the backslash of the path
		Match:    []string{`C:\Users\fake`, `c:/Users/fake/x`, `C:\\Users\\fake\\work`, `\\host\Users\fake`, `D:\Documents and Settings\fake`},
		NoMatch:  []string{`C:\Users\<user>`, `C:\Windows\System32`, "https://users/page", `C:\Users\%USERNAME%`},
	},
	{
		ID:       "own/dashed-home",
		Purpose:  "A home directory written with dashes for slashes, as folder names of session stores are.",
		Keywords: []string{"-home-", "-users-", "-root-"},
		Pattern:  `[/\\](-(?:home|Users|root)-[A-Za-z0-9_.]+|[A-Za-z]--Users-[A-Za-z0-9_.]+)`,
		Match:    []string{"projects/-home-fake-work", "projects/-Users-fake-work", `projects\C--Users-fake-work`},
		NoMatch:  []string{"stay-home-order", "--home-dir", "/my-home-page", "per-root-dir"},
	},
	{
		ID:       "own/user-temp",
		Purpose:  "A temporary directory whose name identifies an account of macOS or a user number of Linux.",
		Keywords: []string{"/var/folders/", "/run/user/"},
		Pattern:  `/var/folders/[A-Za-z0-9_+]{2}/[A-Za-z0-9_+]{16,}|/run/user/[0-9]+`,
		Match:    []string{"/var/folders/xx/fake0fake0fake0fake0", "/private/var/folders/xx/fake0fake0fake0fake0/T", "/run/user/1000"},
		NoMatch:  []string{"/var/folders/<path>", "/run/user/<id:1>"},
	},
}
