// SPDX-License-Identifier: Apache-2.0
/**
 * JSON as RFC 8259 has it, no more and no less, for manifests, states, JSONL corpora and reports.
 *
 * <p>Values are plain Java: {@code Map<String, Object>} in the order of the text, {@code List<Object>},
 * {@code String}, {@code Long} ({@code BigInteger} beyond its range), {@code Double}, {@code Boolean} and {@code null}.
 * The parser trusts nothing: nesting, number length and key repetition are limited, invalid UTF-8 is refused, and any
 * byte sequence gives a value or a {@link io.penstock.json.JsonException} with the offset of the fault.
 *
 * <p>Not exported: users of the engine bring their own JSON library.
 */
@NullMarked
package io.penstock.json;

import org.jspecify.annotations.NullMarked;
