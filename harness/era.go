package harness

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// firstModern is the version from which on a request brings its own version and client along in _meta, and needs no
// handshake. Older requests belong to the session that initialize has begun. Both may come on one pipe.
const firstModern = "2026-07-28"

// era is what a request says of itself.
type era struct {
	modern        bool
	client        string // the name in clientInfo, or empty
	progressToken []byte // as it was sent, or nil
}

// eras reads the era of requests. Its judgement is that of the server's own reading, which other methods go through: the
// same requests are refused, with the same codes. It is for one goroutine.
type eras struct {
	// A client sends the same clientInfo and clientCapabilities with every request, so these are judged once.
	info, capabilities []byte
	client             string
}

// of reads the era from the _meta of a request.
func (k *eras) of(meta []byte) (era, *jsonrpc.Error) {
	values, ok, err := members(meta, mcp.MetaKeyProtocolVersion, mcp.MetaKeyClientInfo, mcp.MetaKeyClientCapabilities, "progressToken")
	if err != nil {
		return era{}, fault(jsonrpc.CodeInvalidParams, "invalid _meta: %v", err)
	}
	if !ok {
		return era{}, nil
	}
	e := era{progressToken: values[3]}
	if !sendable(e.progressToken) {
		e.progressToken = nil
	}
	if !isString(values[0]) {
		return e, nil
	}
	version := string(text(values[0]))
	if version < firstModern {
		return e, nil
	}
	if fault := k.judge(values[1], values[2]); fault != nil {
		return e, fault
	}
	e.modern, e.client = true, k.client
	return e, unsupported(version)
}

// judge accepts a clientInfo, which may be absent, and clientCapabilities, which may not.
func (k *eras) judge(info, capabilities []byte) *jsonrpc.Error {
	if k.capabilities != nil && bytes.Equal(info, k.info) && bytes.Equal(capabilities, k.capabilities) {
		return nil
	}
	var implementation mcp.Implementation
	if info != nil && (isAbsent(info) || json.Unmarshal(info, &implementation) != nil) {
		return fault(jsonrpc.CodeInvalidParams, "invalid _meta field %q", mcp.MetaKeyClientInfo)
	}
	if isAbsent(capabilities) || json.Unmarshal(capabilities, &mcp.ClientCapabilities{}) != nil {
		return fault(jsonrpc.CodeInvalidParams, "missing or invalid _meta field %q", mcp.MetaKeyClientCapabilities)
	}
	k.info, k.capabilities, k.client = bytes.Clone(info), bytes.Clone(capabilities), implementation.Name
	return nil
}

// unsupported refuses a version that the server does not speak.
func unsupported(version string) *jsonrpc.Error {
	supported := mcp.SupportedProtocolVersions()
	if slices.Contains(supported, version) {
		return nil
	}
	f := fault(mcp.CodeUnsupportedProtocolVersion, "unsupported protocol version")
	f.Data, _ = json.Marshal(mcp.UnsupportedProtocolVersionData{Supported: supported, Requested: version})
	return f
}
