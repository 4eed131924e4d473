package compute

import (
	"errors"
	"strings"

	"tornpage/engine"
	"tornpage/engine/db"
	"tornpage/engine/heap"
	"tornpage/engine/row"
	"tornpage/engine/table"
	"tornpage/engine/txn"
)

// errCancelled ends the statement of a client that is gone.
var errCancelled = errors.New("the client is gone")

// codes says what clients are told of an error, and what to do. The first that
// fits counts.
var codes = []struct {
	err  error
	code db.Code
	hint string
}{
	{table.ErrConflict, db.CodeSerialization, "try the transaction again"},
	{txn.ErrDeadlock, db.CodeDeadlock, "try the transaction again"},
	{errCancelled, db.CodeCancelled, ""},
	{table.ErrUnique, db.CodeUnique, ""},
	{row.ErrNull, db.CodeNotNull, ""},
	{errNoTable, db.CodeNoTable, "create it, or look at its name"},
	{table.ErrGone, db.CodeNoTable, "create it, or look at its name"},
	{table.ErrNoIndex, db.CodeNoIndex, ""},
	{errTaken, db.CodeExists, "take another name"},
	{txn.ErrNoSavepoint, db.CodeRequest, ""},
	{row.ErrLimit, db.CodeLimit, ""},
	{heap.ErrTooBig, db.CodeLimit, ""},
	{txn.ErrTooMany, db.CodeLimit, "commit more often"},
	{txn.ErrSavepoints, db.CodeLimit, ""},
	{errTables, db.CodeLimit, ""},
	{engine.ErrFull, db.CodeDiskFull, ""},
	{txn.ErrNotSupported, db.CodeNotSupported, ""},
	{txn.ErrNoXIDs, db.CodeLimit, ""},
	{row.ErrType, db.CodeRequest, ""},
	{row.ErrRange, db.CodeRequest, ""},
	{row.ErrDefinition, db.CodeRequest, ""},
	{table.ErrKey, db.CodeRequest, ""},
	{table.ErrPosition, db.CodeRequest, "begin the scan anew"},
}

// errorOf is the structured error of a statement.
func errorOf(err error) *db.Error {
	var e *db.Error
	if errors.As(err, &e) {
		return e
	}
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return db.Errorf(c.code, c.hint, "%s", strings.TrimPrefix(err.Error(), c.code.String()+": "))
		}
	}
	return db.Errorf(db.CodeStorage, "look at the server's log", "%v", err)
}

// whyOf is why a transaction was aborted.
func whyOf(err error) db.Why {
	if errors.Is(err, engine.ErrFull) {
		return db.WhyFull
	}
	return db.WhyStorage
}
