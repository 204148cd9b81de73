//! The steps with redis-rs. Usage: redis_rs port step...

use redis::{Commands, Connection, RedisResult, Value};
use std::collections::BTreeSet;
use std::fmt::Debug;

fn connect(port: &str, database: i64) -> Connection {
    let url = format!("redis://127.0.0.1:{port}/{database}");
    redis::Client::open(url).and_then(|client| client.get_connection()).expect("a connection")
}

fn command(client: &mut Connection, words: &[&str]) -> RedisResult<Value> {
    let mut command = redis::cmd(words[0]);
    for word in &words[1..] {
        command.arg(*word);
    }
    command.query(client)
}

fn show(step: &str, value: impl Debug) {
    println!("{step} {value:?}");
}

/// Shows each command's reply, or its error.
fn show_all(step: &str, client: &mut Connection, commands: &[&[&str]]) {
    for words in commands {
        match command(client, words) {
            Ok(value) => show(step, value),
            Err(error) => show(step, (error.kind(), error.code(), error.detail())),
        }
    }
}

/// A time to live of 100 s may have lost some of it on a slow machine.
fn about_100(ttl: i64) -> bool {
    ttl > 50 && ttl <= 100
}

fn run(step: &str, client: &mut Connection, port: &str) -> RedisResult<()> {
    match step {
        "strings" => {
            show_all(step, client, &[&["PING"], &["ECHO", "hello"], &["SET", "s", "value"], &["GET", "s"],
                &["GET", "none"], &["SET", "s", "x", "NX"], &["APPEND", "s", "!"], &["MSET", "a", "1", "b", "2"],
                &["MGET", "a", "none", "b"]]);
            let octets: Vec<u8> = vec![0, 13, 10, 255, 36];
            client.set::<_, _, ()>(&octets, &octets)?;
            show(step, client.get::<_, Vec<u8>>(&octets)?);
        }
        "counters" => show_all(step, client, &[&["INCR", "n"], &["INCRBY", "n", "41"], &["DECR", "n"],
            &["INCRBYFLOAT", "f", "1.5"], &["INCR", "s"], &["INCR"], &["NOSUCH", "a"]]),
        "expiry" => {
            show_all(step, client, &[&["SETEX", "e", "100", "1"]]);
            show(step, (about_100(client.ttl("e")?), about_100(client.pttl::<_, i64>("e")? / 1000)));
            show_all(step, client, &[&["PERSIST", "e"], &["TTL", "e"], &["TTL", "none"], &["EXPIRE", "none", "1"]]);
        }
        "lists" => show_all(step, client, &[&["RPUSH", "l", "1", "2", "three"], &["LPUSH", "l", "0"],
            &["LRANGE", "l", "0", "-1"], &["LINDEX", "l", "9"], &["LPOP", "l"], &["LPOP", "none"], &["LPUSH", "s", "1"]]),
        "keys" => {
            show_all(step, client, &[&["EXISTS", "l", "s", "none"], &["TYPE", "l"], &["TYPE", "none"]]);
            let found: BTreeSet<String> = client.scan_match("[ab]")?.collect();
            show(step, found);
            show(step, client.del::<_, i64>(&["a", "b", "none"])?);
        }
        "pipeline" => {
            let mut batch = redis::pipe();
            for _ in 0..100 {
                batch.incr("p", 1);
            }
            show(step, batch.query::<Vec<i64>>(client)?);
        }
        "databases" => {
            let mut other = connect(port, 3);
            other.set::<_, _, ()>("only in 3", "x")?;
            show(step, (client.get::<_, Option<String>>("only in 3")?, redis::cmd("DBSIZE").query::<i64>(&mut other)?));
        }
        "transaction" => {
            let mut batch = redis::pipe();
            batch.atomic().incr("t", 1).rpush("tl", "x").get("none").lrange("tl", 0, -1);
            show(step, batch.query::<Value>(client)?);
            let script = redis::Script::new("return {KEYS[1], ARGV[1], redis.call('incr', KEYS[1])}");
            show(step, script.key("counted").arg(7).invoke::<Value>(client)?);
        }
        "limit" => {
            let mut through = 0;
            for _ in 0..3 {
                let reply: Vec<i64> =
                    redis::cmd("LIMIT.TAKE").arg("door").arg("FIXED").arg(1).arg("1h").query(client)?;
                through += i32::from(reply[0] == 1);
            }
            println!("let through: {through}");
        }
        _ => panic!("no such step: {step}"),
    }
    Ok(())
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut client = connect(&arguments[0], 0);
    for step in &arguments[1..] {
        run(step, &mut client, &arguments[0]).expect(step);
    }
}
