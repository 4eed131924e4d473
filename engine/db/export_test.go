package db

// Sealed is a request's frame around any body.
func Sealed(body []byte) []byte { return seal(append(begin(nil, kindAsk), body...)) }
