package host

// Limits that every machine has. A message beyond its limit is a bug of the
// sender: Send panics (rule H-size).
const (
	// MaxDatagram is the longest datagram in bytes: eight pages, the size that
	// TCP stacks hand to a card as one segment.
	MaxDatagram = 64 << 10
	// MaxMessage is the longest message of a connection in bytes. It bounds
	// what a receiver allocates for a length that a peer claims.
	MaxMessage = 16 << 20
)
