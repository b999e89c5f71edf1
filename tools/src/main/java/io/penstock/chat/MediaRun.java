// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

/**
 * The tokens that stand for an image, a sound or a video of a conversation.
 *
 * @param type the part's type: {@code image}, {@code audio} or {@code video}
 * @param name what the part says of its content: the name of a record's member, a path or a URL; empty if it says
 *     nothing, and the part is then the next one in the record's list of its type
 * @param first the first token, counted from the conversation's
 * @param tokens the number of tokens
 */
public record MediaRun(String type, String name, int first, int tokens) {
}
