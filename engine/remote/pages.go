package remote

import (
	"fmt"
	"slices"

	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// pageHost is the page machine: it reads the durable log and makes pages from
// it. All of it is in memory; a boot reads the log from its start. It runs in
// handlers, but for the task that keeps the stream connected.
type pageHost struct {
	m       host.Machine
	cfg     Config
	stream  *stream
	pages   map[page.ID]*versions
	sizes   map[page.Rel][]size
	clients []*pageUser
	waiting []request
	floor   wal.LSN // nothing older is kept
	refs    []wal.PageRef
	scratch page.Page
}

// pageUser is one connection: a writer's or a follower's.
type pageUser struct {
	link *link
	hold wal.LSN // it asks for nothing older; 0: no promise
}

// request waits until the log has come to need.
type request struct {
	user *pageUser
	msg  message
	need wal.LSN
}

// RunPages is the boot function of the page host. It does not return.
func RunPages(m host.Machine, cfg Config) {
	cfg = cfg.withDefaults()
	h := &pageHost{
		m: m, cfg: cfg, floor: firstLSN,
		pages: map[page.ID]*versions{}, sizes: map[page.Rel][]size{},
	}
	h.stream = newStream(m, cfg, true, h.record, h.advanced)
	m.Listen(cfg.PagePort, h.accept)
	m.Exit(fmt.Errorf("remote: page host: %w", h.stream.run()))
}

// applied is how far the log has been read; all of it is durable.
func (h *pageHost) applied() wal.LSN { return h.stream.chain.pos.End }

// record keeps a record with each page that it changes.
func (h *pageHost) record(rec *wal.Record) {
	rel, blocks, cut, err := rec.Truncate()
	if err != nil {
		h.m.Exit(fmt.Errorf("remote: page host: %w", err))
	}
	h.refs = rec.Pages(h.refs[:0])
	if len(h.refs) == 0 && !cut {
		return
	}
	kept := rec.Clone()
	for _, ref := range h.refs {
		h.changed(ref.ID, change{rec: kept, block: ref.Block})
		if n := ref.ID.Block + 1; n > h.size(ref.ID.Rel) {
			h.resized(ref.ID.Rel, rec.End, n)
		}
	}
	if cut {
		h.cut(rel, blocks, kept)
	}
}

// changed adds a change to a page's chain.
func (h *pageHost) changed(id page.ID, c change) {
	v := h.pages[id]
	if v == nil {
		v = &versions{id: id}
		h.pages[id] = v
	}
	v.changes = append(v.changes, c)
	h.fold(v)
}

// cut ends a relation at block blocks; older versions of what lay behind stay
// as long as any other.
func (h *pageHost) cut(rel page.Rel, blocks uint32, rec *wal.Record) {
	end := h.size(rel)
	for b := blocks; b < end; b++ {
		if id := (page.ID{Rel: rel, Block: b}); h.pages[id] != nil {
			h.changed(id, change{rec: rec, cut: true})
		}
	}
	if blocks < end {
		h.resized(rel, rec.End, blocks)
		h.m.Mark("remote.cut")
	}
}

// size is the relation's number of blocks at the end of what was read.
func (h *pageHost) size(rel page.Rel) uint32 {
	if s := h.sizes[rel]; len(s) > 0 {
		return s[len(s)-1].blocks
	}
	return 0
}

func (h *pageHost) resized(rel page.Rel, at wal.LSN, blocks uint32) {
	h.sizes[rel] = append(h.sizes[rel], size{at, blocks})
}

// fold bounds a page's chain. A page whose redo fails cannot be made any more:
// the process ends, and whoever asks is told to look at the log.
func (h *pageHost) fold(v *versions) {
	n, err := v.fold(h.cfg.Redo, h.floor)
	if err != nil {
		h.m.Exit(fmt.Errorf("remote: page host: %w", err))
	}
	if n > 0 {
		h.m.Charge(host.WorkRedo, n)
		h.m.Mark("remote.folded")
	}
	if !v.exists && len(v.changes) == 0 { // cut off, and nobody may ask for what was before
		delete(h.pages, v.id)
	}
}

// advanced raises the floor and answers who has waited.
func (h *pageHost) advanced() {
	h.raise()
	for i := 0; i < len(h.waiting); {
		if r := &h.waiting[i]; r.need <= h.applied() {
			h.answer(r.user, &r.msg)
			h.waiting = slices.Delete(h.waiting, i, i+1)
			continue
		}
		i++
	}
}

// raise moves the floor as far as all holds and the history allow (rule R6).
func (h *pageHost) raise() {
	to := h.applied()
	to -= min(to, wal.LSN(h.cfg.History))
	for _, u := range h.clients {
		if u.hold != 0 {
			to = min(to, u.hold)
		}
	}
	h.floor = max(h.floor, to)
}

// accept is a handler.
func (h *pageHost) accept(c host.Conn) {
	u := &pageUser{}
	u.link = &link{m: h.m, cfg: &h.cfg, conn: c}
	u.link.take = func(m *message) error { return h.receive(u, m) }
	u.link.lost = func() {
		h.clients = slices.DeleteFunc(h.clients, func(x *pageUser) bool { return x == u })
		h.waiting = slices.DeleteFunc(h.waiting, func(r request) bool { return r.user == u })
	}
	h.clients = append(h.clients, u)
	u.link.begin()
}

// receive is a handler.
func (h *pageHost) receive(u *pageUser, m *message) error {
	switch m.kind {
	case msgHold:
		u.hold = max(u.hold, m.at)
	case msgGetPage, msgGetSize:
		if need := max(m.durable, m.at); need > h.applied() {
			h.m.Mark("remote.page-waited")
			h.waiting = append(h.waiting, request{user: u, msg: *m, need: need})
			return nil
		}
		h.answer(u, m)
	default:
		return fmt.Errorf("message of kind %d makes no sense here", m.kind)
	}
	return nil
}

// answer serves a request whose LSN has been reached: the version as of at, or
// the newest that is durable, never a newer one than was asked for.
func (h *pageHost) answer(u *pageUser, m *message) {
	at := m.at
	if at == 0 {
		at = h.applied()
	}
	out := message{kind: msgPage, id: m.id, page: m.page}
	switch {
	case at < h.floor:
		h.m.Mark("remote.too-old")
		out.status, out.body = statusOld, fmt.Appendf(nil, "%v is gone, kept from %v on", at, h.floor)
	case m.kind == msgGetPage:
		h.page(m.page, at, &out)
	}
	if m.kind == msgGetSize {
		out.kind = msgSize
		out.page.Block = sizeAt(h.sizes[m.page.Rel], at)
	}
	u.link.send(&out)
}

// page fills out with the version as of at.
func (h *pageHost) page(id page.ID, at wal.LSN, out *message) {
	v := h.pages[id]
	if v == nil {
		out.status = statusNoPage
		return
	}
	h.fold(v)
	exists, n, err := v.at(h.cfg.Redo, at, &h.scratch)
	h.m.Charge(host.WorkRedo, n)
	h.m.Charge(host.WorkPageCopy, 1)
	switch {
	case err != nil:
		out.status, out.body = statusFailed, []byte(err.Error())
	case !exists:
		out.status = statusNoPage
	default:
		out.body = h.scratch[:]
	}
}
