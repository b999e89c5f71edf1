// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.testing.Thorough;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Mutated templates end: within their bounds, with a text or a message. {@code -Dchat.mutations=1000000} tries a
 * million, {@code -Dchat.seed} others.
 */
class ChatTemplateMutationTest {

    private static final int MUTATIONS = Thorough.times("chat.mutations", 2000, 20_000);
    private static final long SEED = Long.getLong("chat.seed", 20261126);
    private static final String[] PIECES = ("{{ |}} |{% |%} |{%- |-%}|{# |#}|{% if x %}|{% endif %}|{% else %}"
            + "|{% for m in messages %}|{% endfor %}|{% set x = |{% macro m(a, b=1) %}|{% endmacro %}|{{ m(1) }}"
            + "|{% generation %}|{% endgeneration %}|{% set n = namespace(a=1) %}|{% break %}|{% raw %}|{% endraw %}"
            + "|(|)|[|]|{|}|'|\"|\\|.|,|:|=|==|+|-|*|**|//|%|~|<|in |not |is |and |or |if | else |loop.|messages"
            + "|tools|[::-1]|[1:]|[-1]|.items()|.get(|.split(|.strip()|none|true|1"
            + "|99999999999|1e308|0x|range(9)|range(99999)|'x' * 99999|\n|é|\u2028|\0").split("[|]");
    private static final String[] FILTERS = {"|tojson", "|length", "|trim", "|list", "|map(", "|join", "|sort", "|int",
        "|safe", "|items", "|dictsort", "|batch(2)", "|replace('', 'ab')", "|indent", "|default(", "|first",
        "|reverse"};

    private static String mutated(SplittableRandom random, List<String> seeds) {
        StringBuilder text = new StringBuilder(seeds.get(random.nextInt(seeds.size())));
        for (int count = 1 + random.nextInt(6); count > 0; count--) {
            int at = random.nextInt(text.length() + 1);
            int end = Math.min(text.length(), at + random.nextInt(1 + random.nextInt(40)));
            switch (random.nextInt(6)) {
                case 0 -> text.delete(at, end);
                case 1 -> text.insert(at, PIECES[random.nextInt(PIECES.length)]);
                case 2 -> text.replace(at, end, PIECES[random.nextInt(PIECES.length)]);
                case 3 -> text.insert(at, FILTERS[random.nextInt(FILTERS.length)]);
                case 4 -> text.insert(at, text.substring(at, end));
                default -> {
                    String other = seeds.get(random.nextInt(seeds.size()));
                    int from = random.nextInt(other.length());
                    text.insert(at, other, from, Math.min(other.length(), from + random.nextInt(200)));
                }
            }
        }
        return text.toString();
    }

    @Tag("slow")
    @Test
    void mutatedTemplatesEndWithATextOrAMessage() throws IOException {
        List<String> seeds = ChatTemplateFuzz.TARGET.seeds().stream()
                .map(bytes -> new String(bytes, StandardCharsets.UTF_8)).toList();
        SplittableRandom random = new SplittableRandom(SEED);
        int rendered = 0;
        for (int i = 0; i < MUTATIONS; i++) {
            String text = mutated(random, seeds);
            try {
                rendered += ChatTemplateFuzz.render(text) ? 1 : 0;
            } catch (RuntimeException | Error e) {
                throw new AssertionError("seed " + SEED + ", template " + i + ": " + text, e);
            }
        }
        System.out.println("chat templates: " + MUTATIONS + " mutations, " + rendered + " rendered");
        assertTrue(rendered > MUTATIONS / 100, rendered + " rendered");
    }
}
