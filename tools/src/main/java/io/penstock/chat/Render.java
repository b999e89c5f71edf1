// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import io.penstock.chat.ChatTemplate.AssistantSpan;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;

/** What one rendering changes: its text, its spans, and what is left of its bounds. */
final class Render {

    /** Chars or items that take as long as a step. */
    private static final int STEP_SHIFT = 6;

    final Object[] inputs;
    final LocalDateTime now;
    final long mostChars;
    final StringBuilder text = new StringBuilder(1 << 10);
    /** An index of the template's text near what runs. */
    int at;
    private final ChatTemplate.Limits limits;
    private final List<AssistantSpan> spans = new ArrayList<>();
    private long steps;
    private int depth;
    /** Where the outermost generation block that runs began; -1 outside. */
    private int generationStart = -1;

    Render(Object[] inputs, LocalDateTime now, ChatTemplate.Limits limits) {
        this.inputs = inputs;
        this.now = now;
        this.limits = limits;
        this.mostChars = limits.chars();
        this.steps = limits.steps();
    }

    List<AssistantSpan> spans() {
        return List.copyOf(spans);
    }

    /** Counts a step. */
    void step() {
        if (--steps < 0) {
            throw Values.error("the template takes more than " + limits.steps() + " steps, the limit");
        }
    }

    /** Counts the time that reading so many chars or items takes. */
    void read(long size) {
        steps -= size >> STEP_SHIFT;
        step();
    }

    /** Counts the time that searching for so many chars among so many may take. */
    void search(int size, int soughtSize) {
        read(size + ((long) size * soughtSize >> 2));
    }

    /** Counts the time and bounds the size of a value that is made. */
    void grow(long size) {
        bound(size);
        read(size);
    }

    /** Bounds the size of a value that is made. */
    void bound(long size) {
        if (size > mostChars) {
            throw Values.error("a value is larger than " + mostChars + " chars or items, the limit");
        }
    }

    void enter() {
        if (++depth > limits.depth()) {
            throw Values.error("macros call each other more than " + limits.depth() + " deep, the limit");
        }
    }

    void leave() {
        depth--;
    }

    /**
     * Runs the body of a generation block and notes its span. As in transformers, a span begins at the length of the
     * template's own text: if the block is within a macro or another block that captures text, that is where this text
     * will be put, not where the block is in it.
     */
    int generate(Frame frame, Scope scope, Statement[] body) {
        boolean isOutermost = generationStart < 0;
        if (isOutermost) {
            generationStart = text.length();
        }
        int before = frame.out.length();
        Frame own = new Frame(scope, frame, this, frame.out);
        scope.enter(own);
        int result = Statement.run(body, own);
        spans.add(new AssistantSpan(generationStart, generationStart + frame.out.length() - before));
        if (isOutermost) {
            generationStart = -1;
        }
        return result;
    }
}
