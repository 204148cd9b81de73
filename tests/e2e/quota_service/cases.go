package main

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	month = 30 * 24 * time.Hour
	user  = int64(77_001)
	sku   = int64(148_123_456)
	other = int64(148_123_457)
)

var cases = []Case{
	{"limits are set, told and deleted", limits},
	{"orders count by action and in the zero total", orders},
	{"returns are credited once", returns},
	{"users are reset", resets},
	{"what is left for users", leftForUsers},
	{"orders count from their own time", lateOrders},
	{"8 concurrent orders: none is lost", concurrentOrders},
	{"two lines of one SKU in one order both count", twoLines},
	{"look-then-buy in one step sells no more than there is", lookThenBuy},
	{"an action without a limit counts in the zero total", unconfiguredAction},
	{"nothing is lost in a crash", crash},
}

func left(limiter *Limiter, check *Check, of int64) Left {
	bySku, err := limiter.LeftBySkus(user, of)
	if !check.NoError(err) {
		return nil
	}
	return bySku[0]
}

func buy(limiter *Limiter, check *Check, id int64, lines ...Line) {
	applied, err := limiter.AddOrder(Order{User: user, ID: id, Lines: lines})
	if check.NoError(err) {
		check.Equal("order applied", applied, true)
	}
}

func set(limiter *Limiter, check *Check, limits ...Limit) {
	n, err := limiter.SetLimits(limits...)
	if check.NoError(err) {
		check.Equal("limits set", n, len(limits))
	}
}

func limits(limiter *Limiter, check *Check) {
	check.Equal("left without limits", left(limiter, check, sku), Left{0: -1})
	all := []Limit{{sku, 0, 30, month}, {sku, 1, 20, time.Hour}}
	set(limiter, check, append(all, Limit{other, 0, 2, month})...)
	got, err := limiter.Limits([]int64{sku, 5})
	if check.NoError(err) {
		check.Equal("limits", got, [][]Limit{all, nil})
	}
	got, err = limiter.Limits([]int64{sku}, 1)
	if check.NoError(err) {
		check.Equal("limits of action 1", got, [][]Limit{all[1:]})
	}
	buy(limiter, check, 1, Line{sku, 1, 5})
	n, err := limiter.DeleteLimits([]int64{sku}, 1)
	if check.NoError(err) {
		check.Equal("deleted", n, 1)
	}
	set(limiter, check, all[1])
	check.Equal("left after deleting", left(limiter, check, sku), Left{0: 25, 1: 20})
}

func orders(limiter *Limiter, check *Check) {
	set(limiter, check, Limit{sku, 0, 30, month}, Limit{sku, 1, 20, month})
	buy(limiter, check, 1, Line{sku, 0, 5})
	buy(limiter, check, 2, Line{sku, 1, 10})
	buy(limiter, check, 3, Line{sku, 2, 15})
	check.Equal("left", left(limiter, check, sku), Left{0: 0, 1: 10})
	buy(limiter, check, 4, Line{sku, 0, 1})
	check.Equal("left of one too many", left(limiter, check, sku), Left{0: 0, 1: 10})
	applied, err := limiter.AddOrder(Order{User: user, ID: 4, Lines: []Line{{sku, 1, 1}}})
	if check.NoError(err) {
		check.Equal("an order delivered again applied", applied, false)
	}
	check.Equal("left after a second delivery", left(limiter, check, sku), Left{0: 0, 1: 10})
}

func returns(limiter *Limiter, check *Check) {
	set(limiter, check, Limit{sku, 0, 10, month}, Limit{sku, 1, 10, month})
	buy(limiter, check, 1, Line{sku, 1, 3}, Line{other, 0, 1})
	request := ReturnOrder{User: user, Order: 1, At: time.Now(),
		Lines: []ReturnLine{{sku, 2}, {other, 5}}}
	credited, err := limiter.Return(request)
	if check.NoError(err) {
		check.Equal("credited", credited, []int{2, 1})
	}
	credited, err = limiter.Return(request)
	if check.NoError(err) {
		check.Equal("credited again", credited, []int{0, 0})
	}
	check.Equal("left", left(limiter, check, sku), Left{0: 9, 1: 9})
}

func resets(limiter *Limiter, check *Check) {
	set(limiter, check, Limit{sku, 0, 10, month}, Limit{sku, 7, 5, month})
	buy(limiter, check, 1, Line{sku, 7, 3})
	check.NoError(limiter.ResetUsers([]int64{user}, 7))
	check.Equal("left after resetting 7", left(limiter, check, sku), Left{0: 7, 7: 5})
	check.NoError(limiter.ResetUsers([]int64{user, 5}))
	check.Equal("left after resetting all", left(limiter, check, sku), Left{0: 10, 7: 5})
}

func leftForUsers(limiter *Limiter, check *Check) {
	set(limiter, check, Limit{sku, 0, 10, month}, Limit{sku, 7, 5, month}, Limit{other, 3, 1, month})
	buy(limiter, check, 1, Line{sku, 7, 3}, Line{other, 0, 1}, Line{12, 0, 1})
	got, err := limiter.LeftForUsers([]int64{user, 5})
	if check.NoError(err) {
		check.Equal("left", got, []map[int64]Left{{sku: {0: 7, 7: 2}, other: {3: 1}}, {}})
	}
	got, err = limiter.LeftForUsers([]int64{user}, 0)
	if check.NoError(err) {
		check.Equal("left of action 0", got, []map[int64]Left{{sku: {0: 7}}})
	}
}

func lateOrders(limiter *Limiter, check *Check) {
	set(limiter, check, Limit{sku, 0, 10, 24 * time.Hour})
	for id, age := range []time.Duration{time.Minute, 23 * time.Hour, 25 * time.Hour, 90 * 24 * time.Hour} {
		_, err := limiter.AddOrder(Order{User: user, ID: int64(id), At: time.Now().Add(-age),
			Lines: []Line{{sku, 0, 1}}})
		check.NoError(err)
	}
	check.Equal("left", left(limiter, check, sku), Left{0: 8})
}

// together runs as many at once as there are clients, and waits for all of them.
func together(clients int, run func(client int)) {
	var group sync.WaitGroup
	start := make(chan struct{})
	for client := 0; client < clients; client++ {
		group.Add(1)
		go func(client int) {
			defer group.Done()
			<-start
			run(client)
		}(client)
	}
	close(start)
	group.Wait()
}

func concurrentOrders(limiter *Limiter, check *Check) {
	const clients, each = 8, 20
	set(limiter, check, Limit{sku, 0, 1000, month})
	var failures, credited int64
	together(clients, func(client int) {
		for i := 0; i < each; i++ {
			id := int64(client*each + i)
			applied, err := limiter.AddOrder(Order{User: user, ID: id, Lines: []Line{{sku, 0, 2}}})
			if err != nil || !applied {
				atomic.AddInt64(&failures, 1)
			}
			got, err := limiter.Return(ReturnOrder{User: user, Order: id, Lines: []ReturnLine{{sku, 1}}})
			if err != nil {
				atomic.AddInt64(&failures, 1)
				continue
			}
			atomic.AddInt64(&credited, int64(got[0]))
		}
	})
	check.Equal("failures", failures, int64(0))
	check.Equal("returns credited", credited, int64(clients*each))
	check.Equal("left", left(limiter, check, sku), Left{0: 1000 - clients*each})
}

func twoLines(limiter *Limiter, check *Check) {
	set(limiter, check, Limit{sku, 0, 100, month}, Limit{sku, 1, 100, month})
	for id := int64(0); id < 50; id++ {
		buy(limiter, check, id, Line{sku, 0, 1}, Line{sku, 1, 1})
	}
	check.Equal("left", left(limiter, check, sku), Left{0: 0, 1: 50})
}

func lookThenBuy(limiter *Limiter, check *Check) {
	const clients, units = 64, 3
	set(limiter, check, Limit{sku, 0, units, month})
	var sold, failures int64
	together(clients, func(client int) {
		applied, err := limiter.AddOrder(Order{User: user, ID: int64(client), Check: true,
			Lines: []Line{{sku, 0, 1}}})
		if err != nil {
			atomic.AddInt64(&failures, 1)
		}
		if applied {
			atomic.AddInt64(&sold, 1)
		}
	})
	check.Equal("failures", failures, int64(0))
	check.Equal("sold", sold, int64(units))
	check.Equal("left", left(limiter, check, sku), Left{0: 0})
}

func unconfiguredAction(limiter *Limiter, check *Check) {
	buy(limiter, check, 1, Line{sku, 9, 4}) // before there is any limit, too
	set(limiter, check, Limit{sku, 0, 10, month})
	buy(limiter, check, 2, Line{sku, 8, 1})
	check.Equal("left", left(limiter, check, sku), Left{0: 5})
	set(limiter, check, Limit{sku, 9, 10, month})
	check.Equal("left of action 9", left(limiter, check, sku), Left{0: 5, 9: 6})
}

func crash(limiter *Limiter, check *Check) {
	set(limiter, check, Limit{sku, 0, 10, month}, Limit{sku, 1, 5, month})
	buy(limiter, check, 1, Line{sku, 1, 3})
	_, err := limiter.Return(ReturnOrder{User: user, Order: 1, Lines: []ReturnLine{{sku, 1}}})
	check.NoError(err)
	if !check.NoError(check.Server.Crash()) {
		return
	}
	limiter.Pool.Close()
	fresh := *limiter
	fresh.Pool = check.Server.NewPool()
	check.Equal("left", left(&fresh, check, sku), Left{0: 8, 1: 3})
}
