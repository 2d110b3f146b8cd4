package main

import "errors"

// once is the value of a flag that may stand there once: of two directories, the one that is silently dropped may be the
// one that was meant.
type once struct {
	value *string
	isSet bool
}

func (o *once) String() string {
	if o.value == nil {
		return ""
	}
	return *o.value
}

func (o *once) Set(s string) error {
	if o.isSet {
		return errors.New("the flag is given twice")
	}
	*o.value, o.isSet = s, true
	return nil
}

func (o *once) Type() string { return "string" }
