// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import io.penstock.decode.Decoder;
import io.penstock.tokenize.LineEncoder;
import io.penstock.tokenize.TokenBuffer;
import io.penstock.tokenize.Tokenizer;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Makes numbers of a record that holds a conversation, or several answers to a question: of a line of JSON, of a column
 * of JSON, or of several columns of a table. All three give the same numbers. Immutable; any number of threads may use
 * it.
 */
public sealed interface ConversationEncoder extends LineEncoder permits ChatTokenizer, AnswerTokenizer {

    /**
     * Appends the numbers of a record.
     *
     * @param record the record's members
     * @param numbers receives them after those that it has
     * @return whether the record is a sample; false leaves it out, and nothing was appended
     * @throws IllegalArgumentException if the record has no conversation, the template refuses it, or the trained
     *     tokens cannot be told; says why
     */
    boolean encode(Map<String, ? extends @Nullable Object> record, TokenBuffer numbers);

    @Override
    default boolean encode(byte[] utf8, int from, int end, TokenBuffer ids) {
        return encode(ChatTokenizer.record(utf8, from, end), ids);
    }

    /** {@return the model's tokenizer} */
    Tokenizer tokenizer();

    /** {@return the names of the members that it may read of a record} */
    Set<String> members();

    /**
     * {@return a decoder for a column of JSON that holds a record's object, or its list of messages} Workers make the
     * numbers: a field of the {@linkplain LineEncoder#content content's} name, {@code i32[*]}. A record that would be
     * left out is a bad sample.
     */
    default Decoder decoder() {
        return new ConversationDecoder(this, ConversationDecoder.Output.NUMBERS);
    }
}
