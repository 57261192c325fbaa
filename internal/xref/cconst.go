// No upstream twin: the values of enums.

package xref

import "strconv"

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// constant works out a simple expression: numbers, names of earlier values, and
// the operators <<, |, +, - from left to right.
func constant(t []tok, values map[string]int64) (int64, bool) {
	var acc int64
	op, have := "", false
	for i := 0; i < len(t); i++ {
		var v int64
		switch t[i].kind {
		case tokNumber:
			n, ok := number(t[i].text)
			if !ok {
				return 0, false
			}
			v = n
		case tokChar:
			if len(t[i].text) != 1 {
				return 0, false
			}
			v = int64(t[i].text[0])
		case tokIdent:
			n, ok := values[t[i].text]
			if !ok {
				return 0, false
			}
			v = n
		case tokPunct:
			switch t[i].text {
			case "(", ")":
				continue
			case "-", "+", "|":
				op = t[i].text
				continue
			case "<":
				op = "<<"
				continue
			}
			return 0, false
		default:
			return 0, false
		}
		switch {
		case !have && op == "-":
			acc = -v
		case !have:
			acc = v
		case op == "<<":
			acc <<= uint(v)
		case op == "|":
			acc |= v
		case op == "+":
			acc += v
		case op == "-":
			acc -= v
		default:
			return 0, false
		}
		have, op = true, ""
	}
	return acc, have
}

// number reads an integer or a character.
func number(s string) (int64, bool) {
	for len(s) > 1 {
		switch s[len(s)-1] {
		case 'u', 'U', 'l', 'L':
			s = s[:len(s)-1]
			continue
		}
		break
	}
	if n, err := strconv.ParseInt(s, 0, 64); err == nil {
		return n, true
	}
	if n, err := strconv.ParseUint(s, 0, 64); err == nil {
		return int64(n), true
	}
	return 0, false
}
