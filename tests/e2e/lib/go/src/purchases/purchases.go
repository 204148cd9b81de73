// Package purchases holds what a marketplace's limiter, as it was first written, keeps in hashes: of
// each SKU the limits by action, of each user the purchases by SKU, as msgpack.
package purchases

import "github.com/vmihailenco/msgpack/v5"

// Limit counts purchases of the last Sec seconds. Datestart is in unix seconds.
type Limit struct{ Limit, Sec, Datestart int64 }

// Record is a line of an order. It counts until DateKill, in unix seconds.
type Record struct{ Action, Qty, DateKill, OrderID int64 }

// Pack gives a hash's value.
func Pack(value interface{}) []byte {
	packed, err := msgpack.Marshal(value)
	if err != nil {
		panic(err)
	}
	return packed
}

// Unpack reads what HGET or HGETALL has answered. Of null it leaves `into` as it is.
func Unpack(packed interface{}, into interface{}) {
	if packed == nil {
		return
	}
	if err := msgpack.Unmarshal(packed.([]byte), into); err != nil {
		panic(err)
	}
}

// Counting are the records, packed together, that count at `now`.
func Counting(packed interface{}, now int64) []Record {
	var all, counting []Record
	Unpack(packed, &all)
	for _, one := range all {
		if one.DateKill > now {
			counting = append(counting, one)
		}
	}
	return counting
}
