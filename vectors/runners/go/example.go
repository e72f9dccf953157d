// A subject for runner.go: randomized response, two maps, two queries. With FLAWED=1 three of them have flaws.
package main

import (
	"math"
	"math/big"
	"math/bits"
	"math/rand"
	"os"
)

var flawed = os.Getenv("FLAWED") != ""

func uniform(n uint64, take func(int) uint64) uint64 {
	for {
		if drawn := take(bits.Len64(n)); drawn < n {
			return drawn
		}
	}
}

func response(parameters Parameters, take func(int) uint64) float64 {
	probability, _ := new(big.Rat).SetString(parameters["probability"].(string))
	truth := parameters["truth"].(float64)
	if uniform(probability.Denom().Uint64(), take) < probability.Num().Uint64() {
		return truth
	}
	lie := float64(uniform(uint64(parameters["categories"].(float64))-1, take))
	if lie >= truth && !flawed {
		lie++
	}
	return lie
}

var Streams = map[string]func(Parameters, func(int) uint64) float64{"randomized-response": response}

var Draws = map[string]func(Parameters, int) []float64{
	"randomized-response": func(parameters Parameters, n int) []float64 {
		outcomes := make([]float64, n)
		for i := range outcomes {
			outcomes[i] = response(parameters, func(k int) uint64 { return rand.Uint64() >> (64 - k) })
		}
		return outcomes
	},
}

var Maps = map[string]func(Parameters) float64{
	"gaussian-zcdp": func(parameters Parameters) float64 {
		sigma := parameters["sigma"].(float64)
		if flawed {
			return 0.25 / sigma / sigma
		}
		return 0.5 / sigma / sigma
	},
	"laplace-accuracy": func(parameters Parameters) float64 {
		return -parameters["scale"].(float64) * math.Log(parameters["alpha"].(float64))
	},
}

var Queries = map[string]func(Parameters, []float64) float64{
	"count": func(_ Parameters, records []float64) (count float64) {
		for _, record := range records {
			if !flawed || record == record {
				count++
			}
		}
		return count
	},
	"sized-sum": func(parameters Parameters, records []float64) (sum float64) {
		for _, record := range records {
			sum += math.Min(math.Max(record, number(parameters["lower"])), number(parameters["upper"]))
		}
		return sum
	},
}
