// The judge of queries whose answer is a number.
package main

import (
	"fmt"
	"math"
	"math/big"
)

func stability(test Test) error {
	query := Queries[test.Function]
	if query == nil || test.Distance != "l1" {
		return skipped
	}
	answers := [2]float64{}
	for world, runs := range [2][][2]any{test.In, test.Out} {
		records := []float64{}
		for _, run := range runs {
			for count := run[0].(float64); count > 0; count-- {
				records = append(records, number(run[1]))
			}
		}
		answers[world] = query(test.Parameters, records)
	}
	apart := new(big.Float).SetPrec(2200) // every difference of two floats is exact
	if math.IsNaN(answers[0]-answers[1]) || math.IsInf(answers[0]-answers[1], 0) {
		return fmt.Errorf("%v are infinitely far apart", answers)
	}
	apart.Sub(big.NewFloat(answers[0]), big.NewFloat(answers[1])).Abs(apart)
	if apart.Cmp(big.NewFloat(number(test.Bound))) > 0 {
		return fmt.Errorf("%v are farther apart than %v", answers, test.Bound)
	}
	return nil
}
