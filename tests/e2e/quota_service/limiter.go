package main

import (
	"fmt"
	"time"

	"github.com/gomodule/redigo/redis"
)

// Limiter is the marketplace's purchase limiter: its eight operations, each one command.
type Limiter struct {
	Pool *redis.Pool
	Book string
}

type Limit struct {
	Sku, Action int64
	Limit       int32
	Window      time.Duration
}

type Line struct {
	Sku, Action int64
	Qty         int32
}

type ReturnLine struct {
	Sku int64
	Qty int32
}

// Order is what a customer bought. At is the order's own time; zero is the server's.
type Order struct {
	User, ID int64
	At       time.Time
	Lines    []Line
	Check    bool // only if the limits leave room for it
}

// ReturnOrder is what a customer gave back of an order.
type ReturnOrder struct {
	User, Order int64
	At          time.Time
	Lines       []ReturnLine
}

// Left is what remains, by action.
type Left map[int64]int64

func (l *Limiter) do(command string, args redis.Args) (interface{}, error) {
	connection := l.Pool.Get()
	defer connection.Close()
	return connection.Do(command, args...)
}

func seconds(at time.Time) string {
	return fmt.Sprintf("%d.%03d", at.Unix(), at.Nanosecond()/1_000_000)
}

func withActions(args redis.Args, actions []int64) redis.Args {
	if len(actions) == 0 {
		return args
	}
	return args.Add("ACTIONS").AddFlat(actions)
}

// SetLimits sets limits; purchases already made stay counted.
func (l *Limiter) SetLimits(limits ...Limit) (int, error) {
	args := redis.Args{l.Book}
	for _, limit := range limits {
		args = args.Add(limit.Sku, limit.Action, limit.Limit,
			fmt.Sprintf("%dms", limit.Window.Milliseconds()))
	}
	return redis.Int(l.do("QUOTA.SETLIMIT", args))
}

// Limits tells the limits of each SKU.
func (l *Limiter) Limits(skus []int64, actions ...int64) ([][]Limit, error) {
	args := withActions(redis.Args{l.Book}.AddFlat(skus), actions)
	bySku, err := redis.Values(l.do("QUOTA.LIMITS", args))
	if err != nil {
		return nil, err
	}
	result := make([][]Limit, len(skus))
	for i, of := range bySku {
		rows, err := redis.Values(of, nil)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			fields, err := redis.Int64s(row, nil)
			if err != nil {
				return nil, err
			}
			result[i] = append(result[i], Limit{skus[i], fields[0], int32(fields[1]),
				time.Duration(fields[2]) * time.Millisecond})
		}
	}
	return result, nil
}

// DeleteLimits deletes limits; what was bought until then does not count for them again.
func (l *Limiter) DeleteLimits(skus []int64, actions ...int64) (int, error) {
	return redis.Int(l.do("QUOTA.DELLIMIT", withActions(redis.Args{l.Book}.AddFlat(skus), actions)))
}

// AddOrder records an order once, however often it is delivered, and tells whether it did.
func (l *Limiter) AddOrder(order Order) (bool, error) {
	args := redis.Args{l.Book, order.User, order.ID, "ITEMS"}
	for _, line := range order.Lines {
		args = args.Add(line.Sku, line.Action, line.Qty)
	}
	if !order.At.IsZero() {
		args = args.Add("AT", seconds(order.At))
	}
	command := "QUOTA.RECORD"
	if order.Check {
		command = "QUOTA.BUY"
	}
	reply, err := redis.Values(l.do(command, args.Add("ONCE")))
	if err != nil {
		return false, err
	}
	return redis.Bool(reply[0], nil)
}

// Return credits what came back, once, and tells the quantities credited.
func (l *Limiter) Return(order ReturnOrder) ([]int, error) {
	args := redis.Args{l.Book, order.User, order.Order, "ITEMS"}
	for _, line := range order.Lines {
		args = args.Add(line.Sku, line.Qty)
	}
	if !order.At.IsZero() {
		args = args.Add("AT", seconds(order.At))
	}
	return redis.Ints(l.do("QUOTA.RETURN", args.Add("ONCE")))
}

// ResetUsers starts the users' counters of these actions, or all of them, from zero.
func (l *Limiter) ResetUsers(users []int64, actions ...int64) error {
	_, err := l.do("QUOTA.RESET", withActions(redis.Args{l.Book}.AddFlat(users), actions))
	return err
}

// LeftBySkus tells what a user may still buy of each SKU.
func (l *Limiter) LeftBySkus(user int64, skus ...int64) ([]Left, error) {
	bySku, err := redis.Values(l.do("QUOTA.LEFT", redis.Args{l.Book, user}.AddFlat(skus)))
	if err != nil {
		return nil, err
	}
	result := make([]Left, len(bySku))
	for i := range bySku {
		if result[i], err = leftOf(bySku[i]); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// LeftForUsers tells, for each user, what is left of every SKU that the user has bought.
func (l *Limiter) LeftForUsers(users []int64, actions ...int64) ([]map[int64]Left, error) {
	byUser, err := redis.Values(
		l.do("QUOTA.LEFTBYUSER", withActions(redis.Args{l.Book}.AddFlat(users), actions)))
	if err != nil {
		return nil, err
	}
	result := make([]map[int64]Left, len(byUser))
	for i := range byUser {
		rows, err := redis.Values(byUser[i], nil)
		if err != nil {
			return nil, err
		}
		result[i] = map[int64]Left{}
		for _, row := range rows {
			pair, err := redis.Values(row, nil)
			if err != nil {
				return nil, err
			}
			sku, err := redis.Int64(pair[0], nil)
			if err != nil {
				return nil, err
			}
			if result[i][sku], err = leftOf(pair[1]); err != nil {
				return nil, err
			}
		}
	}
	return result, nil
}

func leftOf(reply interface{}) (Left, error) {
	pairs, err := redis.Values(reply, nil)
	left := Left{}
	for _, pair := range pairs {
		fields, err := redis.Int64s(pair, nil)
		if err != nil {
			return nil, err
		}
		left[fields[0]] = fields[1]
	}
	return left, err
}
