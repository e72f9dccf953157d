// Holds a library in Go against the vectors: go run *.go ../../1. Samplers, maps, and queries with numbers.
// example.go has what a library brings: streams, draws, maps and queries by their names. Exit code: 1 if a test fails, 2 if none is answered.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
)

type Parameters map[string]any

type Event struct {
	From, To    *float64
	Least, Most int
}

type Test struct {
	Id, Kind, Function, Bits, Distance string
	Parameters                         Parameters
	Consumed, Draws                    int
	Outcome                            float64
	Low, High, Bound                   any
	In, Out                            [][2]any
	Events                             []Event
}

var skipped = errors.New("skipped")

// number returns a number: infinities, NaN and integers beyond 2^53 are texts. Other texts are NaN.
func number(value any) float64 {
	if text, isText := value.(string); isText {
		if parsed, err := strconv.ParseFloat(text, 64); err == nil {
			return parsed
		}
		return math.NaN()
	}
	return value.(float64)
}

func bound(test Test) error {
	privacyMap := Maps[test.Function]
	if privacyMap == nil {
		return skipped
	}
	said, low := privacyMap(test.Parameters), number(test.Low)
	if math.Max(said, 0) < low*(1-1e-4) { // a ten-thousandth may be rounding
		return fmt.Errorf("%v is less than %v", said, low)
	}
	return nil
}

func main() {
	code, answered := 0, 0
	for _, name := range []string{"samplers", "maps", "stability"} {
		judges := map[string]func(Test) error{"stream": stream, "law": law, "maps": bound, "stability": stability}
		file, err := os.ReadFile(filepath.Join(os.Args[1], name+".json"))
		set, counts := struct{ Tests []Test }{}, [3]int{}
		if err == nil {
			err = json.Unmarshal(file, &set)
		}
		if err != nil {
			panic(err)
		}
		for _, test := range set.Tests {
			judge := judges[name]
			if judge == nil {
				judge = judges[test.Kind]
			}
			switch err := judge(test); {
			case err == nil:
				counts[0]++
			case err == skipped:
				counts[2]++
			default:
				counts[1]++
				code = 1
				fmt.Println("FAILED", test.Id, test.Parameters, err)
			}
		}
		fmt.Printf("%s: %d passed, %d failed, %d skipped\n", name, counts[0], counts[1], counts[2])
		answered += counts[0] + counts[1]
	}
	if answered == 0 {
		code = 2
	}
	os.Exit(code)
}
