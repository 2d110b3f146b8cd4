package repomap

// isBuiltIn says whether a language defines the name itself, so that using it refers to no file, whatever else is called
// that. Without this the first place of a Go tree is a file that declares "type int int".
func isBuiltIn(l Language, name string) bool {
	switch l {
	case C, CPP:
		return isBuiltInC(name) || l == CPP && isBuiltInCPP(name)
	case Go:
		return isBuiltInGo(name)
	case Java:
		return isBuiltInJava(name)
	case JavaScript:
		return isBuiltInJavaScript(name)
	case TypeScript, TSX:
		return isBuiltInJavaScript(name) || isBuiltInTypeScript(name)
	case Python:
		return isBuiltInPython(name)
	case Rust:
		return isBuiltInRust(name)
	case Raku:
		return isBuiltInRaku(name)
	}
	return false
}

func isBuiltInC(name string) bool {
	switch name {
	case "NULL", "bool", "true", "false", "errno", "stdin", "stdout", "stderr", "EOF", "va_list", "va_start", "va_end", "va_arg",
		"size_t", "ssize_t", "off_t", "time_t", "ptrdiff_t", "intptr_t", "uintptr_t", "FILE",
		"int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "intmax_t", "uintmax_t",
		"malloc", "calloc", "realloc", "free", "abort", "exit", "assert", "offsetof", "sizeof", "defined",
		"memcpy", "memmove", "memset", "memcmp", "memchr", "strlen", "strcmp", "strncmp", "strcpy", "strncpy", "strcat", "strchr",
		"strrchr", "strstr", "strdup", "strtol", "strtoul", "atoi", "printf", "fprintf", "sprintf", "snprintf", "vsnprintf":
		return true
	}
	return false
}

func isBuiltInCPP(name string) bool {
	switch name {
	case "std", "string", "vector", "map", "set", "pair", "move", "forward", "make_pair", "make_unique", "make_shared",
		"unique_ptr", "shared_ptr", "begin", "end", "size", "empty", "push_back", "emplace_back", "c_str", "data", "get",
		"static_cast", "dynamic_cast", "reinterpret_cast", "const_cast", "nullptr", "cout", "cerr", "endl":
		return true
	}
	return false
}

func isBuiltInGo(name string) bool {
	switch name {
	case "any", "bool", "byte", "comparable", "complex64", "complex128", "error", "float32", "float64",
		"int", "int8", "int16", "int32", "int64", "rune", "string", "uint", "uint8", "uint16", "uint32", "uint64", "uintptr",
		"true", "false", "iota", "nil", "append", "cap", "clear", "close", "complex", "copy", "delete", "imag", "len", "make",
		"max", "min", "new", "panic", "print", "println", "real", "recover":
		return true
	}
	return false
}

func isBuiltInJava(name string) bool {
	switch name {
	case "Boolean", "Byte", "Character", "Class", "Double", "Exception", "Float", "IllegalArgumentException",
		"IllegalStateException", "Integer", "Iterable", "Long", "Math", "NullPointerException", "Number", "Object", "Override",
		"Deprecated", "SuppressWarnings", "FunctionalInterface", "RuntimeException", "Short", "String", "StringBuilder", "System",
		"Thread", "Throwable", "Void", "List", "Map", "Set", "ArrayList", "HashMap", "HashSet", "Collection", "Collections",
		"Iterator", "IOException", "var":
		return true
	}
	return false
}

func isBuiltInJavaScript(name string) bool {
	switch name {
	case "Array", "ArrayBuffer", "BigInt", "Boolean", "Buffer", "Date", "Error", "Function", "Infinity", "Intl", "JSON", "Map",
		"Math", "NaN", "Number", "Object", "Promise", "Proxy", "RangeError", "Reflect", "RegExp", "Set", "String", "Symbol",
		"SyntaxError", "TypeError", "Uint8Array", "WeakMap", "WeakSet", "arguments", "clearTimeout", "clearInterval", "console",
		"document", "exports", "globalThis", "isNaN", "module", "parseFloat", "parseInt", "process", "require", "setInterval",
		"setTimeout", "super", "this", "undefined", "window":
		return true
	}
	return false
}

func isBuiltInTypeScript(name string) bool {
	switch name {
	case "any", "boolean", "never", "number", "object", "string", "symbol", "unknown", "void", "Awaited", "Exclude", "Extract",
		"NonNullable", "Omit", "Parameters", "Partial", "Pick", "Readonly", "ReadonlyArray", "Record", "Required", "ReturnType",
		"Iterable", "Iterator", "PromiseLike":
		return true
	}
	return false
}

func isBuiltInPython(name string) bool {
	switch name {
	case "self", "cls", "None", "True", "False", "NotImplemented", "Ellipsis", "__name__", "__file__",
		"abs", "all", "any", "ascii", "bin", "bool", "breakpoint", "bytearray", "bytes", "callable", "chr", "classmethod", "compile",
		"complex", "delattr", "dict", "dir", "divmod", "enumerate", "eval", "exec", "filter", "float", "format", "frozenset",
		"getattr", "globals", "hasattr", "hash", "help", "hex", "id", "input", "int", "isinstance", "issubclass", "iter", "len",
		"list", "locals", "map", "max", "memoryview", "min", "next", "object", "oct", "open", "ord", "pow", "print", "property",
		"range", "repr", "reversed", "round", "set", "setattr", "slice", "sorted", "staticmethod", "str", "sum", "super", "tuple",
		"type", "vars", "zip", "__import__", "__init__", "os", "re", "sys",
		"Any", "Callable", "Dict", "Iterable", "Iterator", "List", "Optional", "Sequence", "Tuple", "Type", "TypeVar", "Union",
		"BaseException", "Exception", "ArithmeticError", "AssertionError", "AttributeError", "ImportError", "IndexError", "KeyError",
		"KeyboardInterrupt", "LookupError", "NameError", "NotImplementedError", "OSError", "OverflowError", "RuntimeError",
		"StopIteration", "SystemExit", "TypeError", "UnicodeDecodeError", "UnicodeError", "ValueError", "Warning", "DeprecationWarning":
		return true
	}
	return false
}

func isBuiltInRust(name string) bool {
	switch name {
	case "self", "Self", "super", "crate", "std", "core", "alloc", "bool", "char", "str",
		"i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "f32", "f64",
		"Some", "None", "Ok", "Err", "Option", "Result", "String", "Vec", "Box", "Rc", "Arc", "Cow", "Default", "Clone", "Copy",
		"Debug", "Display", "Drop", "Eq", "Fn", "FnMut", "FnOnce", "From", "Into", "Iterator", "IntoIterator", "Ord", "PartialEq",
		"PartialOrd", "Send", "Sized", "Sync", "ToString", "ToOwned", "AsRef", "HashMap", "HashSet",
		"assert", "assert_eq", "assert_ne", "debug_assert", "eprintln", "format", "matches", "panic", "print", "println", "todo",
		"unimplemented", "unreachable", "vec", "write", "writeln", "cfg", "derive", "concat", "env", "include_str", "stringify":
		return true
	}
	return false
}

func isBuiltInRaku(name string) bool {
	switch name {
	case "_", "Any", "Array", "Bag", "Blob", "Bool", "Buf", "Callable", "Capture", "Code", "Cool", "Date", "DateTime", "Exception",
		"Failure", "False", "Hash", "IO", "Int", "Junction", "List", "Map", "Match", "Mu", "Nil", "Num", "Numeric", "Order", "Pair",
		"Parameter", "Positional", "Promise", "Proc", "Range", "Rat", "Real", "Regex", "Routine", "Seq", "Set", "Signature", "Slip",
		"Str", "Stringy", "Sub", "Supply", "True", "UInt", "Whatever",
		"die", "elems", "for", "gist", "given", "grep", "if", "join", "keys", "lc", "map", "new", "not", "note", "print", "push",
		"put", "return", "say", "self", "shift", "so", "sort", "split", "sprintf", "uc", "unless", "until", "values", "when", "while",
		"with", "without", "and", "or", "my", "our", "sub", "method", "loop", "fail", "try", "chars", "defined", "first", "pop":
		return true
	}
	return false
}

// isBuiltInMethod says whether what the language brings along has a method of that name, which is sent so often that
// hardly any use of it means one of the tree's own.
func isBuiltInMethod(l Language, name string) bool {
	switch l {
	case Go:
		switch name {
		case "Done", "Err", "Error", "Lock", "RLock", "RUnlock", "String", "Unlock", "Wait":
			return true
		}
	case Java:
		switch name {
		case "add", "append", "contains", "equals", "format", "get", "getClass", "hashCode", "isEmpty", "iterator", "length", "print",
			"println", "put", "size", "substring", "toString", "valueOf":
			return true
		}
	case JavaScript, TypeScript, TSX:
		switch name {
		case "apply", "bind", "call", "catch", "concat", "entries", "every", "filter", "find", "forEach", "get", "has", "hasOwnProperty",
			"includes", "indexOf", "join", "keys", "log", "map", "pop", "push", "reduce", "replace", "shift", "slice", "some", "sort",
			"split", "startsWith", "then", "toString", "trim", "values":
			return true
		}
	case Python:
		switch name {
		case "append", "decode", "encode", "endswith", "extend", "format", "get", "insert", "items", "join", "keys", "lower", "lstrip",
			"pop", "remove", "replace", "rsplit", "rstrip", "setdefault", "sort", "split", "splitlines", "startswith", "strip", "update",
			"upper", "values":
			return true
		}
	case Rust:
		switch name {
		case "as_ref", "as_str", "clone", "collect", "expect", "get", "insert", "into", "is_empty", "is_none", "is_some", "iter", "len",
			"map", "push", "to_owned", "to_string", "unwrap":
			return true
		}
	}
	return false
}
