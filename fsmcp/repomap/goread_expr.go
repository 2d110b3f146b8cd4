package repomap

import "go/ast"

// typ reads an expression that stands for a type.
func (g *goReader) typ(e ast.Expr) {
	switch e := e.(type) {
	case *ast.Ident:
		g.refer(e)
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			g.take(x, e.Sel, role{use: refers, boundary: true})
		}
	case *ast.StarExpr:
		g.typ(e.X)
	case *ast.ParenExpr:
		g.typ(e.X)
	case *ast.Ellipsis:
		g.typ(e.Elt)
	case *ast.UnaryExpr:
		g.typ(e.X)
	case *ast.BinaryExpr:
		g.typ(e.X)
		g.typ(e.Y)
	case *ast.ArrayType:
		g.expression(e.Len, false)
		g.typ(e.Elt)
	case *ast.MapType:
		g.typ(e.Key)
		g.typ(e.Value)
	case *ast.ChanType:
		g.typ(e.Value)
	case *ast.FuncType:
		g.function(e, nil)
	case *ast.IndexExpr:
		g.typ(e.X)
		g.typ(e.Index)
	case *ast.IndexListExpr:
		g.typ(e.X)
		g.types(e.Indices)
	case *ast.StructType:
		for _, field := range e.Fields.List {
			g.typ(field.Type)
		}
	case *ast.InterfaceType:
		g.methods(e)
	}
}

func (g *goReader) types(list []ast.Expr) {
	for _, e := range list {
		g.typ(e)
	}
}

func (g *goReader) methods(t *ast.InterfaceType) {
	for _, m := range t.Methods.List {
		if f, ok := m.Type.(*ast.FuncType); ok && len(m.Names) > 0 {
			g.define(m.Names[0], MethodKind)
			g.function(f, nil)
			continue
		}
		g.typ(m.Type)
	}
}

// values reads a list of expressions; a bare name in it is a value.
func (g *goReader) values(list []ast.Expr) {
	for _, e := range list {
		g.expression(e, true)
	}
}

// expression reads an expression. A bare name counts where it is handed on as a value.
func (g *goReader) expression(e ast.Expr, value bool) {
	switch e := e.(type) {
	case *ast.Ident:
		if value {
			g.refer(e)
		}
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			g.take(x, e.Sel, role{use: refers, capital: true})
		}
		g.expression(e.X, false)
	case *ast.CallExpr:
		g.call(e)
	case *ast.BinaryExpr:
		g.expression(e.X, true)
		g.expression(e.Y, true)
	case *ast.UnaryExpr:
		g.expression(e.X, false)
	case *ast.StarExpr:
		g.expression(e.X, false)
	case *ast.ParenExpr:
		g.expression(e.X, false)
	case *ast.FuncLit:
		g.function(e.Type, e.Body)
	case *ast.CompositeLit:
		g.literal(e)
	case *ast.IndexExpr:
		if isNested(e) {
			g.typ(e)
			return
		}
		g.expression(e.X, false)
		g.expression(e.Index, false)
	case *ast.IndexListExpr:
		g.typ(e)
	case *ast.SliceExpr:
		for _, part := range []ast.Expr{e.X, e.Low, e.High, e.Max} {
			g.expression(part, false)
		}
	case *ast.TypeAssertExpr:
		g.expression(e.X, false)
		g.typ(e.Type)
	case *ast.ArrayType, *ast.MapType, *ast.ChanType, *ast.FuncType, *ast.StructType, *ast.InterfaceType:
		g.typ(e)
	}
}

func (g *goReader) literal(e *ast.CompositeLit) {
	g.typ(e.Type)
	for _, element := range e.Elts {
		if kv, ok := element.(*ast.KeyValueExpr); ok {
			g.expression(kv.Key, false) // of a struct, it is the name of a field
			element = kv.Value
		}
		g.expression(element, true)
	}
}

func (g *goReader) call(e *ast.CallExpr) {
	args := e.Args
	switch f := e.Fun.(type) {
	case *ast.Ident:
		g.refer(f)
		if (f.Name == "make" || f.Name == "new") && len(args) > 0 {
			g.typ(args[0])
			args = args[1:]
		}
	case *ast.ParenExpr:
		_, named := f.X.(*ast.Ident)
		g.expression(f.X, named)
	case *ast.SelectorExpr:
		g.expression(f, false)
		g.rest = append(g.rest, name{span: g.at(f.Sel), role: role{use: refers, sent: true}, pattern: 1})
	case *ast.IndexExpr:
		// What is called may be an instance of a generic function, or an element: the syntax does not tell.
		if isTypeLike(f.Index) && isTypeLike(f.X) {
			g.typ(f)
			g.operands(args)
			return
		}
		g.expression(f, false)
	case *ast.ArrayType, *ast.MapType, *ast.ChanType, *ast.FuncType, *ast.StructType, *ast.InterfaceType:
		g.typ(f)
		g.operands(args)
		return
	default:
		g.expression(f, false)
	}
	if e.Ellipsis.IsValid() && len(args) > 0 { // of new(T...), which the parser lets pass, the type was the only one
		g.expression(args[len(args)-1], false)
		args = args[:len(args)-1]
	}
	g.values(args)
}

// operands reads what is converted to another type. A bare name there is not captured if there is but one.
func (g *goReader) operands(args []ast.Expr) {
	for _, a := range args {
		g.expression(a, len(args) > 1)
	}
}

// isTypeLike says whether an expression could be a type by its looks.
func isTypeLike(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident, *ast.ArrayType, *ast.MapType, *ast.ChanType, *ast.FuncType, *ast.StructType, *ast.InterfaceType:
		return true
	case *ast.SelectorExpr:
		_, ok := e.X.(*ast.Ident)
		return ok
	case *ast.StarExpr:
		return isTypeLike(e.X)
	case *ast.ParenExpr:
		return isTypeLike(e.X)
	case *ast.IndexExpr:
		return isTypeLike(e.X) && isTypeLike(e.Index)
	}
	return false
}

// isNested says whether an element of an element is taken, or an element whose number is an element, which the grammar
// takes for an instance of a generic type.
func isNested(e *ast.IndexExpr) bool {
	_, outer := e.X.(*ast.IndexExpr)
	_, inner := e.Index.(*ast.IndexExpr)
	return (outer || inner) && isTypeLike(e)
}
