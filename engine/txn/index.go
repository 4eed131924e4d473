package txn

// node is what an index holds: a struct that carries its own hash and link, so
// that adding and removing it allocates nothing.
type node[N any] interface {
	*N
	hash() uint32
	link() **N
}

// index is a hash table of nodes. It grows by doubling and does not shrink.
// Not a Go map: the lock table adds and removes a node for each row that is
// locked, and a map allocates for that now and then, at moments of its own.
type index[N any, P node[N]] struct {
	buckets []P
	n       int
}

// firstBuckets is a size that a small boot never outgrows; a power of two.
const firstBuckets = 64

func newIndex[N any, P node[N]]() index[N, P] {
	return index[N, P]{buckets: make([]P, firstBuckets)}
}

// chain is the first of the nodes that may have the hash; the others follow by
// their links.
func (x *index[N, P]) chain(sum uint32) P { return x.buckets[sum&uint32(len(x.buckets)-1)] }

func (x *index[N, P]) add(n P) {
	if x.n == len(x.buckets) {
		x.grow()
	}
	x.put(n)
	x.n++
}

func (x *index[N, P]) put(n P) {
	b := &x.buckets[n.hash()&uint32(len(x.buckets)-1)]
	*n.link() = *b
	*b = n
}

func (x *index[N, P]) grow() {
	old := x.buckets
	x.buckets = make([]P, 2*len(old))
	for _, n := range old {
		for n != nil {
			next := P(*n.link())
			x.put(n)
			n = next
		}
	}
}

// remove takes out a node that is in the index.
func (x *index[N, P]) remove(n P) {
	b := &x.buckets[n.hash()&uint32(len(x.buckets)-1)]
	if *b == n {
		*b = P(*n.link())
	} else {
		p := *b
		for P(*p.link()) != n {
			p = P(*p.link())
		}
		*p.link() = *n.link()
	}
	*n.link() = nil
	x.n--
}
