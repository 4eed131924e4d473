package db

import (
	"strconv"

	"tornpage/engine/row"
)

// Kind is what a statement asks for.
type Kind uint8

// The statements, with the fields that each uses beside Table.
const (
	Begin       Kind = iota + 1 // Level; no Table
	Commit                      // no Table; of a failed transaction: rolls back
	Rollback                    // no Table
	Savepoint                   // Name; no Table
	RollbackTo                  // Name; no Table; ends the failed state
	Release                     // Name; no Table
	CreateTable                 // Def
	CreateIndex                 // NewIndex
	DropTable                   //
	Insert                      // Row: a value for each column
	Get                         // Index, Key: all columns; ForUpdate, Limit, After
	Update                      // Index, Key: all columns of a unique index; Sets
	Delete                      // Index, Key: all columns of a unique index
	Scan                        // Index, From, To, Desc, or Heap; ForUpdate, Limit, After
	Vacuum                      //
	Check                       // answers with findings, rows of one text
	kinds
)

var kindNames = [kinds]string{"?", "begin", "commit", "rollback", "savepoint", "rollback to", "release", "create table",
	"create index", "drop table", "insert", "get", "update", "delete", "scan", "vacuum", "check"}

// String names the statement.
func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return "statement " + strconv.Itoa(int(k))
}

// Writes reports a statement that changes rows or the catalog. Outside a
// transaction block it commits on its own.
func (k Kind) Writes() bool {
	switch k {
	case CreateTable, CreateIndex, DropTable, Insert, Update, Delete:
		return true
	}
	return false
}

// Control reports a statement about transactions.
func (k Kind) Control() bool { return k >= Begin && k <= Release }

// Level is an isolation level.
type Level uint8

// The isolation levels, with PostgreSQL's meanings.
const (
	ReadCommitted  Level = iota // a snapshot for each statement
	RepeatableRead              // one for the transaction; a lost race is CodeSerialization
	Serializable                // refused with CodeNotSupported
	levels
)

// String names the level.
func (l Level) String() string {
	if l < levels {
		return [...]string{"read committed", "repeatable read", "serializable"}[l]
	}
	return "level " + strconv.Itoa(int(l))
}

// Bound is an end of a range: values of the first columns of a key. All
// entries that begin with them are equal to the bound, and belong to the range
// if it is inclusive. Without values the range has no such end.
type Bound struct {
	Key       []row.Value
	Inclusive bool
}

// Set is an assignment of an update: column = Value, or column = column +
// Value.
type Set struct {
	Column int // number, from 0
	Add    bool
	Value  row.Value
}

// Stmt is one statement. Fields that its kind does not use are empty.
type Stmt struct {
	Kind      Kind
	Level     Level
	Name      string // of a savepoint
	Table     string
	Index     string // "": the primary key
	Def       *row.Table
	NewIndex  *row.Index
	Row       []row.Value
	Key       []row.Value
	From, To  Bound // in the order of the index, descending or not
	Desc      bool  // from To down to From
	Heap      bool  // the whole table, in the heap's order and without an index
	Limit     int   // rows; 0: all
	Sets      []Set
	ForUpdate bool   // lock the rows until the transaction ends
	After     []byte // go on after this position: Result.Next
}

// Reset makes s an empty statement of a kind, and keeps its memory.
func (s *Stmt) Reset(k Kind) {
	*s = Stmt{Kind: k, Row: s.Row[:0], Key: s.Key[:0], From: Bound{Key: s.From.Key[:0]}, To: Bound{Key: s.To.Key[:0]},
		Sets: s.Sets[:0], After: s.After[:0]}
}

// Batch is a message of statements, in memory that is used again after Reset.
// They are executed one after the other, up to the first that fails.
type Batch struct {
	ID     uint64 // set by Conn.Do; the answer has it too
	Stmts  []Stmt
	values []row.Value // of decoded statements
}

// Reset empties the batch.
func (b *Batch) Reset() { b.Stmts, b.values = b.Stmts[:0], b.values[:0] }

// Add appends an empty statement, to be filled in before the next call.
func (b *Batch) Add(k Kind) *Stmt {
	s := b.slot()
	s.Reset(k)
	return s
}

// slot appends a statement that holds what was there before.
func (b *Batch) slot() *Stmt {
	if n := len(b.Stmts); n < cap(b.Stmts) {
		b.Stmts = b.Stmts[:n+1]
	} else {
		b.Stmts = append(b.Stmts, Stmt{})
	}
	return &b.Stmts[len(b.Stmts)-1]
}
