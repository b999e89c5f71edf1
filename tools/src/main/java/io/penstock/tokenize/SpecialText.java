// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

/** What an encoder makes of text that spells a special token, such as {@code <|endoftext|>}. */
public enum SpecialText {
    /** It is encoded as plain text: choose this for untrusted text. */
    ORDINARY,
    /** It becomes the special token's id. */
    ALLOWED,
    /** It is refused with an {@link IllegalArgumentException}. */
    FORBIDDEN
}
