;; word-count: a tool that is a WebAssembly component.
;;
;; hydrant asks it for its description by calling `describe` in an instance that can reach nothing: it imports
;; nothing, so no process is started and no leave of the policy is needed but that to read the file.
;; `count` is the tool itself, for hosts that call it.
;;
;; word-count.wasm beside this file is built from it, and only from it:
;;
;;   wasm-tools parse word-count.wat -o word-count.wasm

(component
  (core module $words
    (memory (export "memory") 1)

    ;; Where the next allocation begins: behind the text below, 16-byte aligned.
    (global $free (mut i32) (i32.const 1024))

    ;; What `describe` returns: a pointer and a length, at address 0, in the layout of the canonical ABI.
    (data (i32.const 0) "\10\00\00\00\31\01\00\00")
    (data (i32.const 16)
      "{\"name\":\"word-count\","
      "\"description\":\"Counts the words of a text; a word is a run of characters without white space\","
      "\"input_schema\":{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},\"required\":[\"text\"]},"
      "\"output_schema\":{\"type\":\"object\",\"properties\":{\"words\":{\"type\":\"integer\"}},\"required\":[\"words\"]}}")

    ;; The canonical ABI's allocator for arguments. It only ever moves forward: each call gets a fresh instance.
    (func (export "realloc") (param $old i32) (param $old_size i32) (param $align i32) (param $size i32) (result i32)
      (local $start i32) (local $end i32)
      ;; Round up to the alignment, a power of two.
      (local.set $start
        (i32.and
          (i32.add (global.get $free) (i32.sub (local.get $align) (i32.const 1)))
          (i32.sub (i32.const 0) (local.get $align))))
      (local.set $end (i32.add (local.get $start) (local.get $size)))
      (if (i32.lt_u (local.get $end) (local.get $start)) (then unreachable))
      (block $fits
        (br_if $fits (i32.le_u (local.get $end) (i32.mul (memory.size) (i32.const 65536))))
        ;; One page more than needed, so that the division may round down.
        (br_if $fits
          (i32.ne
            (memory.grow
              (i32.add
                (i32.div_u
                  (i32.sub (local.get $end) (i32.mul (memory.size) (i32.const 65536)))
                  (i32.const 65536))
                (i32.const 1)))
            (i32.const -1)))
        unreachable)
      (global.set $free (local.get $end))
      (memory.copy (local.get $start) (local.get $old) (local.get $old_size))
      (local.get $start))

    (func (export "describe") (result i32)
      (i32.const 0))

    ;; The number of places where a character follows white space or the beginning. White space is ASCII:
    ;; bytes of longer UTF-8 sequences are all above 0x20.
    (func (export "count") (param $text i32) (param $length i32) (result i32)
      (local $end i32) (local $words i32) (local $in_word i32) (local $is_character i32)
      (local.set $end (i32.add (local.get $text) (local.get $length)))
      (block $done
        (loop $next
          (br_if $done (i32.ge_u (local.get $text) (local.get $end)))
          (local.set $is_character (i32.gt_u (i32.load8_u (local.get $text)) (i32.const 0x20)))
          (local.set $words
            (i32.add
              (local.get $words)
              (i32.and (local.get $is_character) (i32.eqz (local.get $in_word)))))
          (local.set $in_word (local.get $is_character))
          (local.set $text (i32.add (local.get $text) (i32.const 1)))
          (br $next)))
      (local.get $words)))

  (core instance $words (instantiate $words))
  (alias core export $words "memory" (core memory $memory))
  (alias core export $words "realloc" (core func $realloc))
  (alias core export $words "describe" (core func $describe))
  (alias core export $words "count" (core func $count))

  (func (export "describe") (result string)
    (canon lift (core func $describe) (memory $memory)))

  (func (export "count") (param "text" string) (result u32)
    (canon lift (core func $count) (memory $memory) (realloc $realloc))))
