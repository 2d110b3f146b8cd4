package main

const (
	defaultName = "lookfirst"

	usage = `Serve a directory to a coding agent over the Model Context Protocol, on standard input and output or over HTTP.

ROOT is served in two vocabularies: as the toolkit FileSystem with the prefix fs, whose tools are fs_read, fs_write and so
on, and as the toolkit FileTools, whose tools are list_files, read_file, write_file, edit_file and multi_edit. No path that
a client sends leads out of it, and no file is changed that the session has not read, with a tool of either. --vocabulary
leaves out one of the two. For other settings, or for several directories, name the toolkits one by one, or in a file;
relative directories are relative to the current one:

  lookfirst --tool='FileSystem={"root":"/srv/notes","prefix":"notes"}' \
            --tool='FileSystem={"root":"/srv/logs","prefix":"logs","read-only":true}'

  lookfirst --config=workspace.json, where the file holds

  {
    "name": "workspace",
    "version": "1.0",
    "instructions": "Notes and drafts are writable; logs are read-only.",
    "tools": {
      "FileSystem#notes": {"root": "/srv/notes", "prefix": "notes"},
      "FileSystem#logs":  {"root": "/srv/logs", "prefix": "logs", "read-only": true},
      "FileTools":        {"root": "/srv/notes", "extra-roots": ["/srv/drafts"]}
    },
    "http": {"port": 8080, "host": "127.0.0.1", "path": "mcp", "allowedOrigins": ["https://example.com"]}
  }

"name" and "tools" are required. What stands behind a # tells two toolkits of a kind apart. "prefix" goes in front of the
names of a toolkit's tools, with an underscore; with "" the names are bare. No two tools may have one name. 'lookfirst
--describe=FileSystem' and 'lookfirst --describe=FileTools' list all settings; a FileSystem that is named as a toolkit lets
files be changed unread, unless "read-before-write" is true. ROOT, --tool, --config and --describe exclude each other.

With --http=PORT, or with a section "http" in the file, any number of clients are served at http://HOST:PORT/PATH. A
flag wins over the file, and origins of both add up. Nobody is asked who they are: programs on this machine are served,
pages that this machine serves to a browser, and pages of the origins that are allowed.

While it serves, SIGHUP or the prompt reload has it read the command line's file again. 'lookfirst console' gives a person or a
script the same tools; there the command is /reload.

The program ends with its client, or by a signal. The exit status is 0 then, 1 when serving failed, and 2 when the command
line or the file asks for what cannot be served. Standard output holds the protocol alone.`
)
