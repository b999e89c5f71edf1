// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import io.penstock.tokenize.TokenBuffer;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * The tokens of a conversation, and which of them a model is trained on.
 *
 * @param text the rendered text
 * @param ids the token ids
 * @param trained the tokens that are trained on
 * @param media the runs of tokens that stand for images, sounds and videos
 */
record ChatTokens(String text, int[] ids, BitSet trained, List<MediaRun> media) {

    /** Returns some of the tokens, where there are no runs. */
    ChatTokens range(int from, int end) {
        return new ChatTokens(text, Arrays.copyOfRange(ids, from, end), trained.get(from, end), media);
    }

    /** Appends the ids, or their complements where they are not trained on. */
    void addTo(TokenBuffer masked) {
        for (int from = 0; from < ids.length; ) {
            boolean isTrained = trained.get(from);
            int next = isTrained ? trained.nextClearBit(from) : trained.nextSetBit(from);
            int end = next < 0 ? ids.length : Math.min(next, ids.length);
            for (int i = from; i < end; i++) {
                masked.append(isTrained ? ids[i] : ~ids[i]);
            }
            from = end;
        }
    }
}
