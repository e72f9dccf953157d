// The judges of samplers: streams of bits, and counts of draws.
package main

import (
	"fmt"
	"strconv"
)

func stream(test Test) error {
	sampler, place := Streams[test.Function], 0
	if sampler == nil {
		return skipped
	}
	outcome := sampler(test.Parameters, func(k int) (value uint64) {
		for ; k > 0; k-- { // beyond the end of the bits they go on as 1010…, so that every sampler stops
			bit := uint64(place+1) & 1
			if place < test.Consumed {
				digit, _ := strconv.ParseUint(test.Bits[place/4:place/4+1], 16, 8)
				bit = digit >> (3 - place%4) & 1
			}
			place, value = place+1, value<<1|bit
		}
		return value
	})
	if outcome != test.Outcome || place != test.Consumed {
		return fmt.Errorf("%v by %d bits instead of %v by %d", outcome, place, test.Outcome, test.Consumed)
	}
	return nil
}

func law(test Test) error {
	sampler := Draws[test.Function]
	if sampler == nil {
		return skipped
	}
	outcomes := sampler(test.Parameters, test.Draws)
	for _, event := range test.Events {
		count := 0
		for _, one := range outcomes {
			if (event.From == nil || one >= *event.From) && (event.To == nil || one <= *event.To) {
				count++
			}
		}
		if count < event.Least || count > event.Most {
			return fmt.Errorf("%d draws, not %d to %d", count, event.Least, event.Most)
		}
	}
	return nil
}
