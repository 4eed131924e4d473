package compute

import (
	"fmt"

	"tornpage/engine/db"
)

// Do executes a request (db.Backend).
func (e *Engine) Do(req *db.Request, resp *db.Response) {
	switch req.Op {
	case db.OpGet, db.OpMultiGet, db.OpView:
		resp.Outcome = e.Read(req.Keys, req.AtLeast, &resp.Values)
		if resp.Outcome.Status != db.Committed {
			resp.Values.Reset()
		}
	case db.OpPut:
		resp.Outcome = e.Put(req.Keys[0], req.Values.At(0))
	case db.OpCAS:
		resp.Outcome = e.CompareAndSet(req.Keys[0], req.Values.At(1), req.Values.At(0), &resp.Values)
		if resp.Outcome.Why != db.WhyMismatch {
			resp.Values.Reset()
		}
	case db.OpMultiPut:
		resp.Outcome = e.MultiPut(req.Keys, &req.Values, req.Rollback)
	default:
		resp.Refuse(db.WhyRequest, fmt.Sprintf("operation %v", req.Op))
	}
}

var _ db.Backend = (*Engine)(nil)
