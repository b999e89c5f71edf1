// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import io.penstock.decode.Decoder;
import io.penstock.json.Json;
import io.penstock.tokenize.SpecialText;
import io.penstock.tokenize.TokenBuffer;
import io.penstock.tokenize.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Makes tokens of conversations by a model's chat template, and says which of them the model is trained on: what the
 * assistant says.
 *
 * {@snippet :
 * Tokenizer tokenizer = Tokenizer.of(Path.of("model/tokenizer.json"));
 * ChatTokenizer chats = ChatTokenizer.of(ChatTemplate.of(Path.of("model")), tokenizer)
 *         .maxTokens(4096, ChatTokenizer.Truncation.LEAVE_OUT);
 * new TokenizeJob(chats.tokenizer(), List.of(Path.of("chats.jsonl")), Path.of("chats")).lines(chats).run();
 * }
 *
 * <p>The ids are those of {@code apply_chat_template(tokenize=True)} of Hugging Face's transformers, with one
 * difference: a special token's text in what a user wrote stays text, so that nobody can write a turn of the assistant
 * into a question. {@link #textOfSpecialTokens} has the library's way. Where the template marks the assistant's text by
 * {@code {% generation %}}, the trained tokens are those of the library's {@code assistant_masks}. Otherwise they are
 * what an answer adds: the conversation is rendered up to each answer with and without it, and the longer text must
 * begin with the shorter one. Specified in {@code docs/spec/conversations.md}.
 *
 * <p>Immutable; any number of threads may use it.
 */
public final class ChatTokenizer implements ConversationEncoder {

    /** Which answers are trained on. */
    public enum Turns {
        /** All of them. */
        ALL,
        /** The last one, which must end the conversation. */
        LAST
    }

    /** Whether the token that ends an answer is trained on. */
    public enum EndOfTurn {
        /** As the template marks it; yes if it marks nothing. */
        AS_MARKED,
        /** Yes: also a special token right behind what the template marks. */
        TRAINED,
        /** No. */
        NOT_TRAINED
    }

    /** What becomes of a conversation of too many tokens. */
    public enum Truncation {
        /** It is left out. */
        LEAVE_OUT,
        /** Its first tokens are cut off. */
        LEFT,
        /** Its last tokens are cut off. */
        RIGHT,
        /** Its first turns are left out, but for what the system says; it is left out if its last turn is too long. */
        TURNS;

        /** The lower-case name, as in commands. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    private record Settings(Optional<ConversationForm> form, Turns turns, boolean reasoning, boolean toolCalls,
            EndOfTurn endOfTurn, SpecialText specialText, int maxTokens, Truncation truncation,
            ChatTemplate.Options options, MediaTokens media) {
    }

    private static final Settings DEFAULT = new Settings(Optional.empty(), Turns.ALL, true, true, EndOfTurn.AS_MARKED,
            SpecialText.ORDINARY, Integer.MAX_VALUE, Truncation.LEAVE_OUT, ChatTemplate.Options.DEFAULT,
            MediaTokens.NONE);

    private final ChatTemplate template;
    private final Tokenizer tokenizer;
    private final SpecialTexts specials;
    private final BitSet specialIds = new BitSet();
    private final Settings settings;

    private ChatTokenizer(ChatTemplate template, Tokenizer tokenizer, SpecialTexts specials, Settings settings) {
        this.template = template;
        this.tokenizer = tokenizer;
        this.specials = specials;
        this.settings = settings;
        tokenizer.specialTokens().values().forEach(specialIds::set);
    }

    /**
     * {@return a tokenizer of conversations that trains on all answers, reasoning and calls of tools included}
     *
     * @param template the model's template
     * @param tokenizer the model's tokenizer
     */
    public static ChatTokenizer of(ChatTemplate template, Tokenizer tokenizer) {
        return new ChatTokenizer(template, tokenizer, new SpecialTexts(tokenizer.specialTokens().keySet()), DEFAULT);
    }

    private ChatTokenizer with(Settings others) {
        return new ChatTokenizer(template, tokenizer, specials, others);
    }

    /**
     * {@return the same for records in a form; by default, each record's is detected}
     *
     * @param form the form
     */
    public ChatTokenizer form(ConversationForm form) {
        Settings s = settings;
        return with(new Settings(Optional.of(form), s.turns, s.reasoning, s.toolCalls, s.endOfTurn, s.specialText,
                s.maxTokens, s.truncation, s.options, s.media));
    }

    /**
     * {@return the same with other answers that are trained on; by default all}
     *
     * @param turns which ones
     */
    public ChatTokenizer turns(Turns turns) {
        Settings s = settings;
        return with(new Settings(s.form, turns, s.reasoning, s.toolCalls, s.endOfTurn, s.specialText, s.maxTokens,
                s.truncation, s.options, s.media));
    }

    /**
     * {@return the same without training on what is thought before an answer} That is the member {@code
     * reasoning_content}, {@code reasoning} or {@code thinking} of a message, and what stands before {@code </think>}.
     */
    public ChatTokenizer withoutReasoning() {
        Settings s = settings;
        return with(new Settings(s.form, s.turns, false, s.toolCalls, s.endOfTurn, s.specialText, s.maxTokens,
                s.truncation, s.options, s.media));
    }

    /** {@return the same without training on answers that call tools} */
    public ChatTokenizer withoutToolCalls() {
        Settings s = settings;
        return with(new Settings(s.form, s.turns, s.reasoning, false, s.endOfTurn, s.specialText, s.maxTokens,
                s.truncation, s.options, s.media));
    }

    /**
     * {@return the same with another choice about the token that ends an answer}
     *
     * @param choice whether it is trained on
     */
    public ChatTokenizer endOfTurn(EndOfTurn choice) {
        Settings s = settings;
        return with(new Settings(s.form, s.turns, s.reasoning, s.toolCalls, choice, s.specialText, s.maxTokens,
                s.truncation, s.options, s.media));
    }

    /**
     * {@return the same with another choice about special tokens' texts in what people wrote}
     *
     * @param choice {@link SpecialText#ORDINARY}, the default: text; {@link SpecialText#ALLOWED}: special tokens, as
     *     transformers has it; {@link SpecialText#FORBIDDEN}: an error
     */
    public ChatTokenizer textOfSpecialTokens(SpecialText choice) {
        Settings s = settings;
        return with(new Settings(s.form, s.turns, s.reasoning, s.toolCalls, s.endOfTurn, choice, s.maxTokens,
                s.truncation, s.options, s.media));
    }

    /**
     * {@return the same with a limit of a conversation's tokens}
     *
     * @param most the most tokens, at least 1
     * @param truncation what becomes of a longer one
     * @throws IllegalArgumentException if the limit is below 1
     */
    public ChatTokenizer maxTokens(int most, Truncation truncation) {
        if (most < 1) {
            throw new IllegalArgumentException("found at most " + most + " tokens, expected at least 1");
        }
        Settings s = settings;
        return with(new Settings(s.form, s.turns, s.reasoning, s.toolCalls, s.endOfTurn, s.specialText, most,
                truncation, s.options, s.media));
    }

    /**
     * {@return the same with variables, a time and limits for the template}
     *
     * @param options what holds for all conversations
     */
    public ChatTokenizer rendering(ChatTemplate.Options options) {
        Settings s = settings;
        return with(new Settings(s.form, s.turns, s.reasoning, s.toolCalls, s.endOfTurn, s.specialText, s.maxTokens,
                s.truncation, options, s.media));
    }

    /**
     * {@return the same that gives images, sounds or videos in the content of messages their place: the token that the
     * template writes for one becomes a run of it} None of its tokens is trained on. A conversation in which the
     * template writes more or fewer of these tokens than there are parts is refused. One with such parts that is too
     * long is left out, if the truncation is {@link Truncation#LEFT} or {@link Truncation#RIGHT}.
     *
     * @param type the parts' type: {@code image}, {@code audio} or {@code video}
     * @param token the text of a special token, such as {@code <|image_pad|>}
     * @param tokens how many a part becomes; its own member {@code tokens} goes before that
     * @throws IllegalArgumentException if the type is another or has its tokens already, the tokenizer has no such
     *     special token, or the number is below 1
     */
    public ChatTokenizer media(String type, String token, int tokens) {
        Settings s = settings;
        return with(new Settings(s.form, s.turns, s.reasoning, s.toolCalls, s.endOfTurn, s.specialText, s.maxTokens,
                s.truncation, s.options, s.media.and(type, token, tokens, tokenizer)));
    }

    /**
     * {@return the runs of tokens that stand for images, sounds and videos in a conversation, in their order; empty if
     * it is left out}
     *
     * @param conversation the conversation
     * @throws IllegalArgumentException as {@link #encode(Conversation)}
     */
    public List<MediaRun> mediaRuns(Conversation conversation) {
        return tokens(conversation).map(ChatTokens::media).orElse(List.of());
    }

    /**
     * {@return a decoder that makes the places of images, sounds and videos of the column that {@link #decoder} takes:
     * a field {@code media_spans}, {@code i32[*, 3]}} A row has a part's first token, its number of tokens, and its
     * type: 0 for an image, 1 for a sound, 2 for a video. It has none of a conversation that is left out.
     */
    public Decoder mediaSpans() {
        return new ConversationDecoder(this, ConversationDecoder.Output.MEDIA_SPANS);
    }

    /**
     * {@return a decoder that makes the names of these parts: a field {@code media_names}, {@code u8[*]}} It is UTF-8,
     * a line for each part, ended by a line feed: the {@linkplain MediaRun#name name} of a record's member.
     */
    public Decoder mediaNames() {
        return new ConversationDecoder(this, ConversationDecoder.Output.MEDIA_NAMES);
    }

    /** Tells whether conversations may have images, sounds or videos. */
    boolean hasMedia() {
        return !settings.media.kinds().isEmpty();
    }

    @Override
    public Tokenizer tokenizer() {
        return tokenizer;
    }

    /**
     * {@return a conversation's tokens, as complements where they are not trained on; empty if it is left out: it is
     * too long, or none of its tokens is trained on}
     *
     * @param conversation the conversation
     * @throws IllegalArgumentException if the template refuses it, or the trained tokens cannot be told; says why
     */
    public Optional<int[]> encode(Conversation conversation) {
        return tokens(conversation).map(tokens -> {
            TokenBuffer masked = new TokenBuffer();
            tokens.addTo(masked);
            return masked.toArray();
        });
    }

    @Override
    public boolean encode(Map<String, ? extends @Nullable Object> record, TokenBuffer numbers) {
        Conversation conversation = conversation(record);
        if (!hasMedia()) {
            int start = numbers.size();
            BitSet trained = append(conversation, numbers).trained;
            boolean fits = numbers.size() - start <= settings.maxTokens;
            if (fits && !trained.isEmpty()) {
                mask(numbers, start, trained);
                return true;
            }
            numbers.truncate(start);
            if (fits || settings.truncation == Truncation.LEAVE_OUT) {
                return false;
            }
        }
        Optional<ChatTokens> tokens = tokens(conversation);
        tokens.ifPresent(found -> found.addTo(numbers));
        return tokens.isPresent();
    }

    /** Replaces the ids from {@code start} on that are not trained on by their complements. */
    private static void mask(TokenBuffer numbers, int start, BitSet trained) {
        int count = numbers.size() - start;
        for (int from = trained.nextClearBit(0); from < count; ) {
            int next = trained.nextSetBit(from);
            int end = next < 0 ? count : next;
            numbers.complement(start + from, start + end);
            from = trained.nextClearBit(end);
        }
    }

    @Override
    public Set<String> members() {
        return settings.form.map(ConversationForm::members).orElseGet(ConversationForm::allMembers);
    }

    /** Returns the members of a record in JSON; an array is the messages of one. */
    static Map<String, @Nullable Object> record(byte[] utf8, int from, int end) {
        Object record = Json.parse(utf8, from, end);
        if (record instanceof List<?>) {
            return Json.members("messages", record);
        }
        if (!(record instanceof Map<?, ?>)) {
            throw new IllegalArgumentException("found " + Json.shown(record) + ", expected an object");
        }
        return Json.object(record);
    }

    /**
     * {@return a decoder for a column of JSON that holds a record's object, or its list of messages} Workers make the
     * tokens, as {@link #encode(Conversation)} does: a field {@code masked_tokens}, {@code i32[*]}. A conversation that
     * would be left out is a bad sample.
     *
     * {@snippet :
     * ChatTokenizer chats = ChatTokenizer.of(ChatTemplate.named("chatml"), Tokenizer.of("cl100k_base"));
     * try (RecordStore store = RecordStore.open(Path.of("chats.parquet"));
     *         Cached tokens = RecordFields.of(store).and("messages", chats.decoder())
     *                 .cache("masked_tokens");
     *         PackedSequences packed = Packing.of(tokens, 4096).pack()) {
     *     System.out.println(packed.paddingShare());
     * }
     * }
     */
    @Override
    public Decoder decoder() {
        return ConversationEncoder.super.decoder();
    }

    /**
     * {@return the conversation of a record}
     *
     * @param record the record's members
     * @throws IllegalArgumentException if it has no conversation in the form, or in any
     */
    public Conversation conversation(Map<String, ? extends @Nullable Object> record) {
        return form(record).conversation(record);
    }

    /** Returns the form of a record. */
    ConversationForm form(Map<String, ? extends @Nullable Object> record) {
        return settings.form.orElseGet(() -> ConversationForm.detect(record));
    }

    /** Returns the form of a record of answers. */
    ConversationForm formOfAnswers(Map<String, ? extends @Nullable Object> record) {
        return settings.form.orElseGet(() -> ConversationForm.detectAnswers(record));
    }

    /** Returns the tokens of a conversation, cut if it is too long; empty if it is left out. */
    Optional<ChatTokens> tokens(Conversation conversation) {
        ChatTokens all = whole(conversation);
        int count = all.ids().length;
        int most = settings.maxTokens;
        if (count > most) {
            boolean cuts = settings.truncation == Truncation.LEFT || settings.truncation == Truncation.RIGHT;
            if (cuts && !all.media().isEmpty()) {
                return Optional.empty();
            }
            switch (settings.truncation) {
                case LEAVE_OUT -> {
                    return Optional.empty();
                }
                case LEFT -> all = all.range(count - most, count);
                case RIGHT -> all = all.range(0, most);
                case TURNS -> {
                    Optional<ChatTokens> shorter = withoutFirstTurns(conversation);
                    if (shorter.isEmpty()) {
                        return shorter;
                    }
                    all = shorter.get();
                }
            }
        }
        return all.trained().isEmpty() ? Optional.empty() : Optional.of(all);
    }

    private Optional<ChatTokens> withoutFirstTurns(Conversation conversation) {
        List<Map<String, @Nullable Object>> messages = conversation.messages();
        int system = 0;
        while (system < messages.size() && !"user".equals(messages.get(system).get("role"))) {
            system++;
        }
        for (int next = system + 1; next < messages.size(); next++) {
            if ("user".equals(messages.get(next).get("role"))) {
                List<Map<String, @Nullable Object>> kept = new ArrayList<>(messages.subList(0, system));
                kept.addAll(messages.subList(next, messages.size()));
                ChatTokens tokens = whole(new Conversation(kept, conversation.extras()));
                if (tokens.ids().length <= settings.maxTokens) {
                    return Optional.of(tokens);
                }
            }
        }
        return Optional.empty();
    }

    private ChatTokens whole(Conversation conversation) {
        TokenBuffer ids = new TokenBuffer();
        Encoded encoded = append(conversation, ids);
        return settings.media.expanded(conversation, new ChatTokens(encoded.text, ids.toArray(), encoded.trained,
                List.of()));
    }

    /** A conversation's text, and which of its tokens are trained on. */
    private record Encoded(String text, BitSet trained) {
    }

    /** Appends the ids of a whole conversation. */
    private Encoded append(Conversation conversation, TokenBuffer ids) {
        ChatTemplate.Rendered rendered = template.render(conversation.variables(false), settings.options);
        String text = rendered.text();
        List<ChatTemplate.AssistantSpan> plain = plainPlaces(conversation, text);
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        TextPlaces places = new TextPlaces(text, utf8);
        int[] ranges = new int[2 * plain.size()];
        for (int i = 0; i < plain.size(); i++) {
            ranges[2 * i] = places.byteOf(plain.get(i).start());
            ranges[2 * i + 1] = places.byteOf(plain.get(i).end());
        }
        List<ChatTemplate.AssistantSpan> spans = spans(conversation, rendered);
        int[] bounds = new int[3 * spans.size()];
        for (int i = 0; i < spans.size(); i++) {
            bounds[3 * i] = places.byteOf(spans.get(i).start());
            bounds[3 * i + 1] = bounds[3 * i] + 1;
            bounds[3 * i + 2] = Math.max(bounds[3 * i + 1], places.byteOf(spans.get(i).end()));
        }
        int first = ids.size();
        int[] counts = tokenizer.encode(utf8, ranges, bounds, ids);
        BitSet trained = new BitSet();
        for (int i = 0; i < spans.size(); i++) {
            if (spans.get(i).start() < spans.get(i).end()) {
                // Where no token begins at the first byte, the one before reaches over it.
                boolean beginsThere = counts[3 * i + 1] > counts[3 * i];
                train(trained, ids, first, beginsThere ? counts[3 * i] : counts[3 * i] - 1, counts[3 * i + 2]);
            }
        }
        return new Encoded(text, trained);
    }

    /** Trains on the tokens of an answer, of those that are in a buffer from {@code first} on. */
    private void train(BitSet trained, TokenBuffer ids, int first, int from, int end) {
        boolean endsSpecial = end > from && specialIds.get(ids.get(first + end - 1));
        int last = switch (settings.endOfTurn) {
            case AS_MARKED -> end;
            case TRAINED -> first + end < ids.size() && !endsSpecial && specialIds.get(ids.get(first + end)) ? end + 1
                    : end;
            case NOT_TRAINED -> endsSpecial ? end - 1 : end;
        };
        trained.set(from, Math.max(from, last));
    }

    /** Finds the special tokens' texts that people wrote: the template is rendered with marks in their place. */
    private List<ChatTemplate.AssistantSpan> plainPlaces(Conversation conversation, String text) {
        Map<String, @Nullable Object> variables = conversation.variables(false);
        if (settings.specialText == SpecialText.ALLOWED || !specials.areIn(variables)) {
            return List.of();
        }
        if (settings.specialText == SpecialText.FORBIDDEN) {
            throw new IllegalArgumentException("found the text of a special token in a message, which is forbidden");
        }
        SpecialTexts.Marks marks = specials.marks(variables);
        List<ChatTemplate.AssistantSpan> places = new ArrayList<>();
        String unmarked = marks.unmark(template.render(Json.object(marks.mark(variables)), settings.options).text(),
                places);
        if (!unmarked.equals(text)) {
            throw new IllegalArgumentException("found the text of a special token in a message that the template reads"
                    + " for more than its text: it cannot be told from the template's own");
        }
        return places;
    }

    private List<ChatTemplate.AssistantSpan> spans(Conversation conversation, ChatTemplate.Rendered rendered) {
        AnswerSpans answers = new AnswerSpans(template, settings.options, tokenizer.specialTokens().keySet(),
                conversation, rendered);
        List<AnswerSpans.Answer> found = answers.find(settings.turns == Turns.LAST, settings.toolCalls);
        List<ChatTemplate.AssistantSpan> spans = new ArrayList<>();
        for (AnswerSpans.Answer answer : found) {
            if (answer.isTrained(settings.toolCalls)) {
                spans.add(settings.reasoning ? answer.span() : answer.withoutReasoning(rendered.text()));
            }
        }
        spans.sort(Comparator.comparingInt(ChatTemplate.AssistantSpan::start));
        return spans;
    }

    @Override
    public String fingerprint() {
        Settings s = settings;
        return "chat:" + s.form.map(ConversationForm::toString).orElse("any") + ":" + s.turns + ":reasoning="
                + s.reasoning + ":tools=" + s.toolCalls + ":" + s.endOfTurn + ":" + s.specialText + ":" + s.maxTokens
                + ":" + s.truncation + ":" + s.options.variables() + ":" + template.specialTokens() + ":"
                + template.source() + (hasMedia() ? ":" + s.media : "");
    }
}
