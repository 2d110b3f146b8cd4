package repomap

import (
	"go/ast"
	"go/token"
)

func (g *goReader) statements(list []ast.Stmt) {
	for _, s := range list {
		g.statement(s)
	}
}

func (g *goReader) statement(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE {
			g.bindAll(s.Lhs...)
		}
		g.values(s.Lhs)
		g.values(s.Rhs)
	case *ast.ExprStmt:
		g.expression(s.X, false)
	case *ast.ReturnStmt:
		g.values(s.Results)
	case *ast.DeclStmt:
		g.declaration(s.Decl, false)
	case *ast.GoStmt:
		g.call(s.Call)
	case *ast.DeferStmt:
		g.call(s.Call)
	case *ast.IncDecStmt:
		g.expression(s.X, false)
	case *ast.SendStmt:
		g.expression(s.Chan, false)
		g.expression(s.Value, false)
	case *ast.LabeledStmt:
		g.statement(s.Stmt)
	default:
		g.compound(s)
	}
}

// bindAll binds the names in a list of expressions.
func (g *goReader) bindAll(list ...ast.Expr) {
	for _, e := range list {
		if id, ok := e.(*ast.Ident); ok {
			g.bind(id)
		}
	}
}

// compound reads a statement that holds others.
func (g *goReader) compound(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.BlockStmt:
		g.statements(s.List)
	case *ast.IfStmt:
		g.statement(s.Init)
		g.expression(s.Cond, false)
		g.statement(s.Body)
		g.statement(s.Else)
	case *ast.ForStmt:
		g.statement(s.Init)
		g.expression(s.Cond, false)
		g.statement(s.Post)
		g.statement(s.Body)
	case *ast.RangeStmt:
		for _, e := range []ast.Expr{s.Key, s.Value} {
			g.bindAll(e)
			g.expression(e, true)
		}
		g.expression(s.X, false)
		g.statement(s.Body)
	case *ast.SwitchStmt:
		g.statement(s.Init)
		g.expression(s.Tag, false)
		g.cases(s.Body, g.values)
	case *ast.TypeSwitchStmt:
		g.statement(s.Init)
		g.typeSwitch(s.Assign)
		g.cases(s.Body, g.types)
	case *ast.SelectStmt:
		for _, c := range s.Body.List {
			c := c.(*ast.CommClause)
			g.communication(c.Comm)
			g.statements(c.Body)
		}
	}
}

func (g *goReader) cases(body *ast.BlockStmt, list func([]ast.Expr)) {
	for _, c := range body.List {
		c := c.(*ast.CaseClause)
		list(c.List)
		g.statements(c.Body)
	}
}

// typeSwitch reads "x := y.(type)". The query does not know x for a local.
func (g *goReader) typeSwitch(s ast.Stmt) {
	if a, ok := s.(*ast.AssignStmt); ok {
		g.values(a.Lhs)
		g.expression(a.Rhs[0], false)
		return
	}
	g.statement(s)
}

// communication reads what a case of a select statement waits for. The query knows nothing in it for a local.
func (g *goReader) communication(s ast.Stmt) {
	if a, ok := s.(*ast.AssignStmt); ok {
		g.values(a.Lhs)
		g.expression(a.Rhs[0], false)
		return
	}
	g.statement(s)
}
