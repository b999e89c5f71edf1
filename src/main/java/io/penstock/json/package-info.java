// SPDX-License-Identifier: Apache-2.0
/**
 * Strict JSON (RFC 8259) for manifests, states, JSONL corpora and reports.
 *
 * <p>Values are plain Java: {@code Map<String, Object>} in the order of the text, {@code List<Object>},
 * {@code String}, {@code Long} ({@code BigInteger} beyond its range), {@code Double}, {@code Boolean} and {@code null}.
 * The parser accepts untrusted input: it limits nesting and the length of numbers, refuses repeated keys and invalid
 * UTF-8, and turns any byte sequence into a value or a {@link io.penstock.json.JsonException} with the fault's offset.
 *
 * <p>Not exported: users of the engine bring their own JSON library.
 */
@NullMarked
package io.penstock.json;

import org.jspecify.annotations.NullMarked;
