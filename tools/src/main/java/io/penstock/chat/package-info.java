// SPDX-License-Identifier: Apache-2.0
/**
 * Conversations as text: {@link io.penstock.chat.ChatTemplate} renders the chat templates of published models, with an
 * interpreter for the part of Jinja that they use.
 *
 * <p>The interpreter has Python's values: {@code null} is {@code None}, a {@code Long} or {@code BigInteger} an int, a
 * {@code Double} a float, a {@code List} a list, a {@code Map} a dict. Text is indexed by code points, as Python does.
 * {@code Lexer} and {@code Parser} make a tree of {@code Expression} and {@code Statement} whose variables are slots
 * ({@code Scope}); {@code Render} holds what one rendering changes, and its bounds.
 */
package io.penstock.chat;
