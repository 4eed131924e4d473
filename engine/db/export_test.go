package db

// Sealed is a request's frame around any body.
func Sealed(body []byte) []byte { return seal(append(begin(nil, kindAsk), body...)) }

// SealedBatch is a batch's frame around any body.
func SealedBatch(body []byte) []byte { return seal(append(begin(nil, kindBatch), body...)) }

// SealedResults is an answer's frame around any body.
func SealedResults(body []byte) []byte { return seal(append(begin(nil, kindResults), body...)) }
