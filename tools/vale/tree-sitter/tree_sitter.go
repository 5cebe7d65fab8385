// Package sitter stands in for go-tree-sitter, by which Vale parses source code.
//
// The real one is C: it needs a compiler, and more than a minute of CPU time. Headroom hands Vale only the prose that tools/prose
// extracted, as plain text and Markdown, so no parser ever runs; the packages beside this one are the grammars that Vale names.
package sitter

import (
	"context"
	"errors"
)

var errNoParser = errors.New("this Vale is built without parsers; give it text or Markdown")

type (
	// Language is a grammar.
	Language struct{}
	// Parser parses nothing.
	Parser struct{}
	// Tree is a syntax tree.
	Tree struct{}
	// Query is a query over a syntax tree.
	Query struct{}
	// QueryCursor walks the matches of a query.
	QueryCursor struct{}
	// Point is a position in a file.
	Point struct{ Row, Column uint32 }
	// Node is a node of a syntax tree.
	Node struct{}
	// QueryCapture is a node that a query captured.
	QueryCapture struct {
		Index uint32
		Node  *Node
	}
	// QueryMatch is one match of a query.
	QueryMatch struct{ Captures []QueryCapture }
)

func NewParser() *Parser { return &Parser{} }

func (*Parser) SetLanguage(*Language) {}

func (*Parser) ParseCtx(context.Context, *Tree, []byte) (*Tree, error) { return nil, errNoParser }

func (*Tree) RootNode() *Node { return nil }

func NewQuery([]byte, *Language) (*Query, error) { return nil, errNoParser }

func (*Query) CaptureNameForId(uint32) string { return "" }

func NewQueryCursor() *QueryCursor { return &QueryCursor{} }

func (*QueryCursor) Exec(*Query, *Node) {}

func (*QueryCursor) NextMatch() (*QueryMatch, bool) { return nil, false }

func (*QueryCursor) FilterPredicates(m *QueryMatch, _ []byte) *QueryMatch { return m }

func (*Node) Content([]byte) string { return "" }

func (*Node) StartPoint() Point { return Point{} }
