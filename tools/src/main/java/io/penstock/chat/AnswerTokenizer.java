// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import io.penstock.store.TokenContent;
import io.penstock.tokenize.TokenBuffer;
import io.penstock.tokenize.Tokenizer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Makes tokens of several answers to one question, for training on preferences: of pairs of a chosen and a rejected
 * one, of answers with scores, and of single ones that people liked or not.
 *
 * {@snippet :
 * Tokenizer tokenizer = Tokenizer.of(Path.of("model/tokenizer.json"));
 * ChatTokenizer chats = ChatTokenizer.of(ChatTemplate.of(Path.of("model")), tokenizer);
 * new TokenizeJob(tokenizer, List.of(Path.of("pairs.jsonl")), Path.of("pairs")).lines(AnswerTokenizer.of(chats)).run();
 * }
 *
 * <p>Each answer is a conversation with the question, of which the last turn is trained on. A record is left out if one
 * of its answers is. The numbers of a record are the value of a field {@code answers}, which
 * {@link io.penstock.collate.PadAnswers} makes batches of. Specified in {@code docs/spec/conversations.md}.
 *
 * <p>Immutable; any number of threads may use it.
 */
public final class AnswerTokenizer implements ConversationEncoder {

    private final ChatTokenizer chats;

    private AnswerTokenizer(ChatTokenizer chats) {
        this.chats = chats;
    }

    /**
     * {@return a tokenizer of answers}
     *
     * @param chats makes the tokens of one of them; only its last turn is trained on, whatever it says
     */
    public static AnswerTokenizer of(ChatTokenizer chats) {
        return new AnswerTokenizer(chats.turns(ChatTokenizer.Turns.LAST));
    }

    /**
     * {@return a record's value of the field {@code answers}; empty if it is left out: an answer is too long, or none
     * of its tokens is trained on}
     *
     * @param record the record's members, as {@link ConversationForm#answers} reads them
     * @throws IllegalArgumentException if it has no answers, the template refuses one, or the trained tokens cannot be
     *     told; says why
     */
    public Optional<int[]> encode(Map<String, ? extends @Nullable Object> record) {
        TokenBuffer numbers = new TokenBuffer();
        return encode(record, numbers) ? Optional.of(numbers.toArray()) : Optional.empty();
    }

    @Override
    public Tokenizer tokenizer() {
        return chats.tokenizer();
    }

    @Override
    public Set<String> members() {
        return chats.members();
    }

    @Override
    public boolean encode(Map<String, ? extends @Nullable Object> record, TokenBuffer numbers) {
        List<ConversationForm.Answer> answers = chats.formOfAnswers(record).answers(record);
        List<ChatTokens> tokens = new ArrayList<>();
        for (ConversationForm.Answer answer : answers) {
            Optional<ChatTokens> found = chats.tokens(answer.conversation());
            if (found.isEmpty()) {
                return false;
            }
            tokens.add(found.get());
        }
        numbers.append(answers.size());
        for (int i = 0; i < answers.size(); i++) {
            numbers.append(tokens.get(i).ids().length);
            numbers.append(Float.floatToRawIntBits(answers.get(i).score()));
        }
        tokens.forEach(one -> one.addTo(numbers));
        return true;
    }

    /** {@return {@link TokenContent#ANSWERS}} */
    @Override
    public TokenContent content() {
        return TokenContent.ANSWERS;
    }

    @Override
    public String fingerprint() {
        return "answers:" + chats.fingerprint();
    }
}
