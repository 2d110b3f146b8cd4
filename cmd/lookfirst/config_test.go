package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lookfirst/fsmcp"
	"lookfirst/harness"
)

// configFile writes a config file and returns its path.
func configFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "w.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func origins(t *testing.T, all ...string) []harness.Origin {
	t.Helper()
	var parsed []harness.Origin
	for _, s := range all {
		o, err := harness.ParseOrigin(s)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, o)
	}
	return parsed
}

func TestConfigFile(t *testing.T) {
	const tools = `"tools":{"FileSystem":{"root":"/a"}}`
	mount := func(key, root, prefix string) mounting {
		return mounting{source: "FILE: '" + key + "'", kind: fileSystem, prefix: prefix, fileSystem: fsmcp.Options{Root: root}}
	}
	plain := config{name: "n", version: buildVersion(), revisions: harness.PlaceAuto, toolkits: []mounting{mount("FileSystem", "/a", "fs")}}
	plain.instructions = instructionsFor(plain.toolkits)
	over := func(h httpConfig) config {
		c := plain
		c.http = &h
		return c
	}
	readOnly := mount("FileSystem#logs", "/srv/logs", "logs")
	readOnly.fileSystem.ReadOnly = true
	cases := []struct {
		name string
		file string
		args []string
		want config
	}{
		{"it takes a name and a toolkit", `{"name":"n",` + tools + `}`, nil, plain},
		{"it takes a byte order mark and white space", "\ufeff \n" + `{"name":"n",` + tools + "}\n", nil, plain},
		{
			"it takes an identity and several toolkits, in order",
			`{"name":"workspace","version":"1.0","instructions":"","tools":{
				"FileSystem#notes":{"root":"/srv/notes","prefix":"notes"},
				"FileSystem#logs":{"root":"/srv/logs","prefix":"logs","read-only":true},
				"FileSystem":{"root":"/a","prefix":""}}}`,
			nil,
			config{name: "workspace", version: "1.0", revisions: harness.PlaceAuto, toolkits: []mounting{
				mount("FileSystem#notes", "/srv/notes", "notes"), readOnly, mount("FileSystem", "/a", ""),
			}},
		},
		{
			"it takes toolkits of both kinds, and no instructions where they are empty",
			`{"name":"n","instructions":"","tools":{"FileTools#a":{"root":"/a","extra-roots":["/b"]},"FileSystem":{"root":"/a"}}}`,
			nil,
			config{name: "n", version: buildVersion(), revisions: harness.PlaceAuto, toolkits: []mounting{
				{source: "FILE: 'FileTools#a'", kind: fileTools, fileTools: fileToolsOptions{root: "/a", extraRoots: []string{"/b"}}},
				mount("FileSystem", "/a", "fs"),
			}},
		},
		{"it serves over HTTP with a section", `{"name":"n",` + tools + `,"http":{"port":8080}}`, nil, over(httpConfig{port: 8080, host: "127.0.0.1", path: "/mcp"})},
		{"it takes port 0", `{"name":"n",` + tools + `,"http":{"port":0}}`, nil, over(httpConfig{port: 0, host: "127.0.0.1", path: "/mcp"})},
		{
			"it takes all that a section can say",
			`{"name":"n",` + tools + `,"http":{"port":65535,"host":"[::1]","path":"/a/b","allowedOrigins":["https://a.example","http://b.example:1"]}}`,
			nil,
			over(httpConfig{port: 65535, host: "::1", path: "/a/b", origins: origins(t, "https://a.example", "http://b.example:1")}),
		},
		{
			"it lets flags win, and adds origins up",
			`{"name":"n",` + tools + `,"http":{"port":1,"host":"a","path":"a","allowedOrigins":["https://a.example"]}}`,
			[]string{"--http=2", "--host", "b", "--http-path=b", "--allow-origin=https://b.example", "--allow-origin", "https://c.example", "--revisions=meta"},
			func() config {
				c := over(httpConfig{port: 2, host: "b", path: "/b", origins: origins(t, "https://a.example", "https://b.example", "https://c.example")})
				c.revisions = harness.PlaceMeta
				return c
			}(),
		},
		{"it takes the port from a flag", `{"name":"n",` + tools + `,"http":{"host":"a"}}`, []string{"--http=2"}, over(httpConfig{port: 2, host: "a", path: "/mcp"})},
		{"it serves over HTTP with a flag alone", `{"name":"n",` + tools + `}`, []string{"--http", "0"}, over(httpConfig{port: 0, host: "127.0.0.1", path: "/mcp"})},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			file := configFile(t, c.file)
			got, err := parse(t, append([]string{"--config=" + file}, c.args...))
			if err != nil {
				t.Fatal(err)
			}
			for i, m := range got.toolkits {
				got.toolkits[i].source = strings.Replace(m.source, file, "FILE", 1)
			}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(config{}, mounting{}, fileToolsOptions{}, httpConfig{}, harness.Origin{})); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestConfigFileRefuses(t *testing.T) {
	const (
		keys    = "; the settings are 'name', 'version', 'instructions', 'tools', 'http'"
		toolkit = "; the settings are 'root', 'read-only', 'read-before-write', 'regex-syntax', 'digest-memo', 'revision-budget', 'map-cache', 'sync', 'prefix'"
		section = "; the settings are 'port', 'host', 'path', 'allowedOrigins'"
		good    = `{"name":"n","tools":{"FileSystem":{"root":"/a"}}`
	)
	cases := []struct {
		name string
		file string
		args []string
		want string // FILE stands for the path
	}{
		{"it wants a name", `{"tools":{"FileSystem":{"root":"/a"}}}`, nil, "FILE: 'name' is missing" + keys},
		{"it wants a name that is not empty", `{"name":"","tools":{"FileSystem":{"root":"/a"}}}`, nil, "FILE: 'name' is empty and must be a string" + keys},
		{"it wants a version that is not empty", good + `,"version":""}`, nil, "FILE: 'version' is empty and must be a string that is not empty" + keys},
		{"it wants toolkits", `{"name":"n"}`, nil, "FILE: 'tools' is missing" + keys},
		{"it wants one toolkit at least", `{"name":"n","tools":{}}`, nil, `FILE: 'tools' names no toolkit; write it as in {"FileSystem": {"root": "/srv/notes"}}`},
		{"it wants toolkits in an object", `{"name":"n","tools":[ "FileSystem" ]}`, nil, `FILE: 'tools' is ["FileSystem"] and must be an object` + keys},
		{"it refuses an unknown key", good + `,"root":"/a"}`, nil, "FILE: there is no setting 'root'" + keys},
		{"it refuses a key given twice", good + `,"name":"m"}`, nil, "FILE: 'name' is given twice" + keys},
		{"it refuses a number for a name", `{"name":1,"tools":{"FileSystem":{"root":"/a"}}}`, nil, "FILE: 'name' is 1 and must be a string" + keys},
		{"it cuts what it repeats", `{"name":[` + strings.Repeat("1,", 100) + `1],"tools":{}}`, nil, "FILE: 'name' is [" + strings.Repeat("1,", 39) + "1… and must be a string" + keys},
		{"it knows the toolkits", `{"name":"n","tools":{"Files":{"root":"/a"}}}`, nil, "FILE: 'Files': there is no toolkit 'Files'; there are FileSystem and FileTools"},
		{"it knows the toolkits behind an alias", `{"name":"n","tools":{"Files#FileSystem":{"root":"/a"}}}`, nil, "FILE: 'Files#FileSystem': there is no toolkit 'Files'; there are FileSystem and FileTools"},
		{"it refuses an empty alias", `{"name":"n","tools":{"FileSystem#":{"root":"/a"}}}`, nil, "FILE: 'tools': 'FileSystem#' has nothing behind its #; write it as in 'FileSystem#notes'"},
		{"it refuses two toolkits of one key", `{"name":"n","tools":{"FileSystem":{"root":"/a"},"FileSystem":{"root":"/b"}}}`, nil, "FILE: 'tools': 'FileSystem' is given twice; tell two of a kind apart as in 'FileSystem#notes'"},
		{"it refuses an unknown setting of a toolkit", `{"name":"n","tools":{"FileSystem#x":{"root":"/a","readonly":true}}}`, nil, "FILE: 'FileSystem#x': there is no setting 'readonly'" + toolkit},
		{"it refuses a setting of a toolkit given twice", `{"name":"n","tools":{"FileSystem":{"root":"/a","root":"/"}}}`, nil, "FILE: 'FileSystem': 'root' is given twice" + toolkit},
		{"it wants settings", `{"name":"n","tools":{"FileSystem":"/a"}}`, nil, "FILE: 'FileSystem': the settings are not one JSON object (it does not start with {)"},
		{"it refuses an unknown key of the section", good + `,"http":{"port":1,"allowed-origins":[]}}`, nil, "FILE: 'http': there is no setting 'allowed-origins'" + section},
		{"it refuses a key of the section given twice", good + `,"http":{"port":1,"port":2}}`, nil, "FILE: 'http': 'port' is given twice" + section},
		{"it wants a section in an object", good + `,"http":8080}`, nil, "FILE: 'http' is 8080 and must be an object" + keys},
		{"it wants a port", good + `,"http":{}}`, nil, "FILE: 'http': 'port' is missing; write it there, or give --http=PORT"},
		{"it refuses a port that there is not", good + `,"http":{"port":65536}}`, nil, "FILE: 'http': 'port' is 65536 and must be a port from 0 to 65535" + section},
		{"it refuses a port below 0", good + `,"http":{"port":-1}}`, nil, "FILE: 'http': 'port' is -1 and must be a port from 0 to 65535" + section},
		{"it refuses a port in quotes", good + `,"http":{"port":"80"}}`, nil, `FILE: 'http': 'port' is "80" and must be a port from 0 to 65535` + section},
		{"it refuses no host, which would be every address", good + `,"http":{"port":1,"host":""}}`, nil, "FILE: 'http': 'host' is empty and must be a string that is not empty" + section},
		{"it refuses a path with a query", good + `,"http":{"port":1,"path":"a?b"}}`, nil, "FILE: 'http': 'path': 'a?b' is no path; it is made of letters from a to z, digits, '_', '-', '.', '~' and '/'"},
		{"it wants a list of origins", good + `,"http":{"port":1,"allowedOrigins":"*"}}`, nil, `FILE: 'http': 'allowedOrigins' is "*" and must be a list of strings` + section},
		{"it refuses null among origins", good + `,"http":{"port":1,"allowedOrigins":[null]}}`, nil, `FILE: 'http': 'allowedOrigins' is [null] and must be a list of strings` + section},
		{"it refuses null for origins", good + `,"http":{"port":1,"allowedOrigins":null}}`, nil, `FILE: 'http': 'allowedOrigins' is null and must be a list of strings` + section},
		{"it refuses what is no origin", good + `,"http":{"port":1,"allowedOrigins":["*"]}}`, nil, "FILE: 'http': 'allowedOrigins': '*' is no origin; write it as in https://example.com or http://localhost:6274"},
		{"it wants an object", `[]`, nil, "FILE: the file is not one JSON object (it does not start with {)"},
		{"it wants one object", `{}{}`, nil, "FILE: the file is not one JSON object (something follows its end)"},
		{"it wants UTF-8", "{\"name\":\"\xff\"}", nil, "FILE: the file is not one JSON object (it is not UTF-8)"},
		{"it refuses a large file", strings.Repeat(" ", maxConfigFile+1), nil, "--config: FILE is larger than 1 MiB, which no config file is"},

		{"it takes --config or ROOT", good + `}`, []string{"/a"}, "ROOT ('/a') and --config exclude each other; give one of them"},
		{"it takes --config or --root, be it empty", good + `}`, []string{"--root="}, "ROOT ('') and --config exclude each other; give one of them"},
		{"it takes --config or --tool", good + `}`, []string{"--tool=FileSystem"}, "--tool and --config exclude each other; give one of them"},
		{"it takes --config or --describe", good + `}`, []string{"--describe=FileSystem"}, "--config and --describe exclude each other; give one of them"},
		{"it names the toolkits itself", good + `}`, []string{"--vocabulary=both"}, "--vocabulary goes with ROOT; beside --config, name the toolkits that are wanted"},
		{"it has its own name", good + `}`, []string{"--name=m"}, `--name goes with ROOT or --tool; beside --config, write "name" into the file`},
		{"it has its own version", good + `}`, []string{"--server-version=2"}, `--server-version goes with ROOT or --tool; beside --config, write "version" into the file`},
		{"it has its own instructions", good + `}`, []string{"--instructions="}, `--instructions goes with ROOT or --tool; beside --config, write "instructions" into the file`},
		{"it takes no --read-only", good + `}`, []string{"--read-only"}, `--read-only goes with ROOT; beside --config, write "read-only": true into the toolkit's settings`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			file := configFile(t, c.file)
			_, err := parse(t, append([]string{"--config=" + file}, c.args...))
			if err == nil {
				t.Fatal("it was taken")
			}
			if diff := cmp.Diff(c.want, strings.ReplaceAll(err.Error(), file, "FILE")); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestHTTPFlags(t *testing.T) {
	const only = " goes with --http=PORT, or with an 'http' section in the --config file"
	cases := []struct {
		name string
		args []string
		want any // an httpConfig, nil for none, or an error
	}{
		{"it serves standard input and output without", nil, (*httpConfig)(nil)},
		{"it serves on this machine by default", []string{"--http=8080"}, &httpConfig{port: 8080, host: "127.0.0.1", path: "/mcp"}},
		{"it takes a host and a path", []string{"--http", "0", "--host", "[::1]", "--http-path", "/x"}, &httpConfig{host: "::1", path: "/x"}},
		{"it takes a bare path", []string{"--http=0", "--http-path=x"}, &httpConfig{host: "127.0.0.1", path: "/x"}},
		{"it takes the top for a path", []string{"--http=0", "--http-path="}, &httpConfig{host: "127.0.0.1", path: "/"}},
		{"it takes origins", []string{"--http=0", "--allow-origin=https://a.example", "--allow-origin=https://b.example"}, &httpConfig{host: "127.0.0.1", path: "/mcp", origins: origins(t, "https://a.example", "https://b.example")}},
		{"it wants HTTP for a host", []string{"--host=a"}, "--host" + only},
		{"it wants HTTP for a host that is the default", []string{"--host=127.0.0.1"}, "--host" + only},
		{"it wants HTTP for a path", []string{"--http-path=a"}, "--http-path" + only},
		{"it wants HTTP for an origin", []string{"--allow-origin=https://a.example"}, "--allow-origin" + only},
		{"it refuses a word for a port", []string{"--http=web"}, "--http is 'web' and must be a port from 0 to 65535"},
		{"it refuses nothing for a port", []string{"--http="}, "--http is '' and must be a port from 0 to 65535"},
		{"it refuses a port that there is not", []string{"--http=65536"}, "--http is '65536' and must be a port from 0 to 65535"},
		{"it refuses no host, which would be every address", []string{"--http=0", "--host="}, "--host is empty; write --host=0.0.0.0 for every address, or leave it out for 127.0.0.1"},
		{"it refuses a path with a space", []string{"--http=0", "--http-path=a b"}, "--http-path: 'a b' is no path; it is made of letters from a to z, digits, '_', '-', '.', '~' and '/'"},
		{"it refuses everybody for an origin", []string{"--http=0", "--allow-origin=*"}, "--allow-origin: '*' is no origin; write it as in https://example.com or http://localhost:6274"},
		{"it refuses an origin with a path", []string{"--http=0", "--allow-origin=https://a.example/"}, "--allow-origin: 'https://a.example/' is more than an origin; write 'https://a.example'"},
		{"it refuses an unknown place for revisions", []string{"--revisions=text"}, "--revisions: 'text' is no place for revisions; there are 'auto', 'structured' and 'meta'"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := parse(t, append([]string{"/a"}, c.args...))
			if want, isError := c.want.(string); isError {
				if err == nil || err.Error() != want {
					t.Errorf("got %v, want %s", err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got.http, cmp.AllowUnexported(httpConfig{}, harness.Origin{})); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}
