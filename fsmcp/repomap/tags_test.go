//go:build cgo

package repomap

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// said is what tags say, in one line each: "name kind line" and "package.name count".
func said(t *Tags) (definitions, references string) {
	var d, r []string
	for _, x := range t.Definitions {
		s := fmt.Sprint(x.Name, " ", [...]string{"type", "function", "method", "value"}[x.Kind], " ", x.Line)
		if x.Own {
			s += " own"
		}
		d = append(d, s)
	}
	for _, x := range t.References {
		s := fmt.Sprint(x.Name, " ", x.Count)
		if x.Package != "" {
			s = x.Package + "." + s
		}
		r = append(r, s)
	}
	return strings.Join(d, ", "), strings.Join(r, ", ")
}

func TestTags(t *testing.T) {
	tests := []struct {
		name        string
		language    Language
		text        []string
		definitions string
		references  string
	}{
		{
			"it reads C", C,
			[]string{
				"#define MAX(a, b) ((a) > (b) ? (a) : (b))", "typedef struct client {", "  int id;", "} client;", "typedef int (*handler)(client *c);",
				"enum shade { PALE, DARK };", "union cell { int i; };", "enum shade current;", "int send_all(client *c, int n);",
				"static int twice(int n) { return 2 * n; }", "client **lookup(dict *d) {", "  int local(3);", "  robj *o = make(d->size);", "  o->type->destroy(o);",
				"  qsort(d, 3, 4, compare);", "  handler h = on_read;", "  return twice(local);", "}", "struct command table[] = {{\"get\", getCommand}};",
			},
			"MAX function 1, client type 2, client type 2, handler type 5, shade type 6, cell type 7, send_all function 9, twice function 10 own, lookup function 11",
			"client 3, shade 1, dict 1, robj 1, make 1, destroy 1, qsort 1, compare 1, handler 1, on_read 1, twice 1, command 1, getCommand 1",
		},
		{
			"it reads C++", CPP,
			[]string{
				"namespace harbour {", "class Crane : public Machine {", " public:", "  Crane(int load);", "  int hoist() const { return load_; }", "  static Crane *make();",
				"};", "template <typename T> class Box { T item; };", "using Load = Weight;", "}", "harbour::Crane::Crane(int load) : load_(load) {}",
				"harbour::Crane *harbour::Crane::make() {", "  Timer t(3);", "  auto p = std::make_unique<Crane>(4);", "  yard::park(t);", "  return new Crane(5);", "}",
				"static void helper(const Ship &s) { s.sail(); }", "class Later;",
			},
			"Crane type 2, hoist method 5, make method 6, Box type 8, Load type 9, make method 12, helper function 18 own",
			"Machine 1, Crane 6, Weight 1, harbour 3, Timer 1, yard 1, park 1, Ship 1, sail 1, Later 1",
		},
		{
			"it reads Go", Go,
			[]string{
				"package core", `import ("errors"; y "gopkg.in/yaml.v3"; "example.com/go-tide/v2")`, "type Tide struct{ Level int }", "type Alias = Tide",
				"type Shore interface { Reach(t *Tide) error }", "const Max, min = 3, 4", "var (", "  ErrDry = errors.New(\"dry\")", ")",
				"func (t *Tide) Raise(by int) { t.Level += by; t.log(by); lift(t) }",
				"func make2(err error) *Tide { x := y.Marshal(err); tide.Run(x); return &Tide{Level: Max} }",
			},
			"Tide type 3, Alias type 4, Shore type 5, Reach method 5, Max value 6, min value 6, ErrDry value 8, Raise method 10, make2 function 11",
			"Tide 5, errors.New 1, Level 1, log 1, lift 1, yaml.Marshal 1, tide.Run 1, Max 1",
		},
		{
			"it reads Java", Java,
			[]string{
				"import a.b.Helper;", "@Service", "class Pier<T> extends Dock implements Mooring {", "  private Crane crane = new Crane();", "  Pier() { }",
				"  void moor(Ship s) { s.berth(); Helper.help(s); list.forEach(Rope::tie); }", "  @Override public String toString() { return name; }", "}",
				"enum Shade { PALE }", "record Point(int x) { }", "interface Mooring { int depth(); }", "@interface Service { int level(); }",
			},
			"Pier type 3, moor method 6, toString method 7, Shade type 9, Point type 10, Mooring type 11, depth method 11, Service type 12, level method 12",
			"Helper 2, Service 1, Dock 1, Mooring 1, Crane 2, Ship 1, berth 1, help 1, list 1, forEach 1, Rope 1, tie 1",
		},
		{
			"it reads JavaScript", JavaScript,
			[]string{
				"import Def, { named as other } from './x';", "const { splice } = require('./rope');", "const { local } = compute();", "export const LIMIT = 9;",
				"const arrow = (x) => splice(x);", "function yard() { const c = new Crane(); c.hoist(local); return <Widget size={LIMIT} />; }",
				"class Dock extends base.Pier { #secret = () => 1; ready() { } constructor() { } }", "exports.open = function () { };",
				"const table = { get: function () { }, put: putCommand };", "for (const i of list) { use(i); }",
			},
			"LIMIT value 4, arrow function 5, yard function 6, Dock type 7, #secret method 7, ready method 7, open method 8, table value 9, get method 9",
			"Def 1, named 1, splice 1, compute 1, Crane 1, hoist 1, Widget 1, base 1, Pier 1, putCommand 1, use 1",
		},
		{
			"it reads TypeScript", TypeScript,
			[]string{
				"import { Helper } from './h';", "export abstract class Dock extends Pier<Load> implements Mooring { abstract moor(s: Ship): void; ready = () => 1; }",
				"interface Mooring { depth(): number; }", "type Load = Weight | string;", "enum Shade { Pale }", "namespace Inner { export function deep() { } }",
				"declare const VERSION: string;", "export function over(x: number): Point;", "@Component() class Part { constructor(private d: Dock) { } }",
				"export const LIMIT = 9;",
			},
			"Dock type 2, moor method 2, ready method 2, Mooring type 3, depth method 3, Load type 4, Shade type 5, Inner type 6, deep function 6, VERSION value 7, " +
				"over function 8, Part type 9, LIMIT value 10",
			"Helper 1, Pier 1, Load 1, Mooring 1, Ship 1, Weight 1, Point 1, Component 1, Dock 1",
		},
		{
			"it reads TSX", TSX,
			[]string{"export const App = (p: Props) => <Frame title={p.title}><Body /></Frame>;"},
			"App function 1",
			"Props 1, Frame 1, Body 1",
		},
		{
			"it reads Python", Python,
			[]string{
				"from core import Beacon, light as l", "LIMIT = 9", "@decorate", "class Dock(base.Pier, Mooring):", "    @property", "    def ready(self) -> Answer:",
				"        return self.beacon.glow(LIMIT)", "    def moor(self, ship: Optional[Ship]): raise Adrift", "def main(argv):",
				"    try:", "        b = Beacon()", "    except Storm as s:", "        handlers = [on_read]", "    return mod.CONST, b.attribute",
			},
			"LIMIT value 2, Dock type 4, ready method 6, moor method 8, main function 9",
			"Beacon 2, light 1, decorate 1, base 1, Pier 1, Mooring 1, Answer 1, glow 1, LIMIT 1, Ship 1, Adrift 1, on_read 1, mod 1, CONST 1",
		},
		{
			"it reads Rust", Rust,
			[]string{
				"use core::{Tide, pool::Pool as P};", "pub struct Crane { load: u8 }", "pub enum Shade { Pale }", "type Load = Weight;", "pub trait Lift { fn lift(&self); fn twice(&self) { } }",
				"impl Lift for Crane { fn lift(&self) { self.motor.run(helper); } }", "mod inner { pub fn deep() { } }", "mod outside;", "macro_rules! hoist { () => { } }",
				"const LIMIT: u8 = 9;", "static NAME: &str = \"x\";",
				"fn main() { let c = Crane::new(LIMIT); println!(\"{}\", measure(c)); parse::<Point>(c); hoist!(); if let Some(x) = c { x.go(); } }",
			},
			"Crane type 2, Shade type 3, Load type 4, Lift type 5, lift method 5, twice method 5, lift method 6, inner type 7, deep function 7, hoist function 9, " +
				"LIMIT value 10, NAME value 11, main function 12",
			"Tide 1, pool 1, Pool 1, Weight 1, Lift 1, Crane 2, run 1, helper 1, new 1, LIMIT 1, measure 1, parse 1, Point 1, hoist 1, go 1",
		},
	}
	r := &reader{grammars: newGrammars()}
	defer r.close()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tags, err := r.read(tt.language, []byte(lines(tt.text...)))
			if err != nil {
				t.Fatal(err)
			}
			d, refs := said(tags)
			if diff := cmp.Diff([]string{tt.definitions, tt.references}, []string{d, refs}); diff != "" {
				t.Errorf("definitions and references (-want +got):\n%s", diff)
			}
		})
	}
}
