module libraries

go 1.19

require (
	github.com/go-redis/redis/v8 v8.4.2
	github.com/gomodule/redigo v1.8.9
	github.com/sethvargo/go-limiter v0.7.2
	github.com/sethvargo/go-redisstore v0.3.0
	github.com/throttled/throttled/v2 v2.12.0
)

require (
	github.com/cespare/xxhash/v2 v2.2.0 // indirect
	github.com/dgryski/go-rendezvous v0.0.0-20200823014737-9f7001d12a5f // indirect
	go.opentelemetry.io/otel v0.14.0 // indirect
)
