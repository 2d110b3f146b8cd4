package toolkit

import (
	"strconv"
	"strings"
)

// suit reports whether the value can be the argument for p, and works out an integer. Nothing is taken for something
// else: true is not 1, "true" is not true and 1 is not "1". The exception is a decimal string for an integer, which
// models send often and which can mean only one thing.
func (v *value) suit(p *Param) reason {
	switch p.Type {
	case "string":
		return suitableIf(v.kind == kindString)
	case "boolean":
		return suitableIf(v.kind == kindTrue || v.kind == kindFalse)
	case "integer":
		return v.suitInteger(p)
	}
	panic("toolkit: parameter '" + p.Name + "' has the unknown type '" + p.Type + "'")
}

func suitableIf(ok bool) reason {
	if ok {
		return suitable
	}
	return mistyped
}

func (v *value) suitInteger(p *Param) reason {
	r := mistyped
	switch v.kind {
	case kindNumber:
		v.integer, r = integral(v.text)
	case kindString:
		if isDecimal(v.text) {
			v.integer, r = parse(v.text)
		}
	}
	if r == suitable && (p.Min != nil && v.integer < *p.Min || p.Max != nil && v.integer > *p.Max) {
		return outOfRange
	}
	return r
}

// isDecimal reports whether the text is digits, with nothing but a minus before them.
func isDecimal(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

// parse reads a decimal number, which can only fail by being too large.
func parse(decimal string) (int64, reason) {
	n, err := strconv.ParseInt(decimal, 10, 64)
	if err != nil {
		return 0, tooLarge
	}
	return n, suitable
}

// integral returns the value of a JSON number that is a whole one within an int64. It works on the digits, because a
// float64 would round what is above 2^53, and an exponent may ask for any number of zeros.
func integral(number string) (int64, reason) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(strings.TrimPrefix(whole+fraction, "-"), "0")
	significant := strings.TrimRight(digits, "0")
	if significant == "" {
		return 0, suitable
	}
	zeros := clamped(exponent) + len(digits) - len(significant) - len(fraction)
	if zeros < 0 {
		return 0, mistyped
	}
	if len(significant)+zeros > len("9223372036854775808") {
		return 0, tooLarge
	}
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign = "-"
	}
	return parse(sign + significant + strings.Repeat("0", zeros))
}

// clamped reads an exponent. Beyond 30 bits it outweighs any number of digits that fits into a message, so that its exact
// size does not matter and sums with it stay within an int.
func clamped(exponent string) int {
	const limit = 1 << 30
	n, _ := strconv.ParseInt(exponent, 10, 64) // gives the nearest int64 when out of range, and 0 for ""
	return int(max(-limit, min(n, limit)))
}
