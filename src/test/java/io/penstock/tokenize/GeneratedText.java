// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import java.util.List;
import java.util.Random;

/** Random text made of what the split expressions look at, and of what vocabularies hold. */
final class GeneratedText {

    private static final String[] ATOMS = {
        "a", "b", "the", "S", "LL", "Don", "'s", "'ll", "'S", "'Re", "'vE", "'\u017f", "'", "''", "’", "é", "e\u0301",
        "\u0301", "\u0301\u0302", "ß", "Я", "жук", "你", "好", "の", "한국", "ا", "न", "\u0940", "ǅ", "ʰ", "ªº", "1", "23",
        "4567", "Ⅷ", "½", "٣", " ", "  ", "   ", "\t", "\n", "\n\n", "\r\n", "\r", "\u00a0", "\u3000", "\u2003",
        "\u0085", "\u2028", "\u000b", "\u001c", "\u180e", "\u200b", "\ufeff", "\u0000", ",", ".", "，", "。", "!", "?!",
        "/", "//", "/\n", "-", "----", "_", "(", "\"", "{}", ");\n", "😀", "👩\u200d🚀", "🇫🇷", "\ud835\udd04",
        "\u20dd", "<|endoftext|>", "\ufffd", "https://", "i++", "==", "\t\t", "camelCase", "HTTPServer", "getX2Y", "DŽ",
        "\u02bc"};

    /** First and last code points of blocks, a script or a kind of sign each. */
    private static final int[][] BLOCKS = {
        {0x20, 0x7E}, {0xA0, 0x24F}, {0x300, 0x36F}, {0x370, 0x3FF}, {0x400, 0x4FF}, {0x530, 0x58F}, {0x590, 0x5FF},
        {0x600, 0x6FF}, {0x900, 0x97F}, {0x980, 0x9FF}, {0xB80, 0xBFF}, {0xE00, 0xE7F}, {0x10A0, 0x10FF},
        {0x1100, 0x11FF}, {0x1200, 0x137F}, {0x1E00, 0x1EFF}, {0x2000, 0x206F}, {0x2100, 0x218F}, {0x2200, 0x22FF},
        {0x3000, 0x303F}, {0x3040, 0x30FF}, {0x4E00, 0x9FFF}, {0xAC00, 0xD7A3}, {0xE000, 0xE0FF}, {0xFF00, 0xFFEF},
        {0x10400, 0x1044F}, {0x1D400, 0x1D7FF}, {0x1F300, 0x1F6FF}, {0x20000, 0x200FF}, {0, 0x10FFFF}};

    static final List<String> SAMPLES = List.of(
            "The quick brown fox doesn't jump; it's 3,141.59 times lazier than I'd've thought — naïve, eh?",
            "Быстрая коричневая лиса перепрыгивает через ленивую собаку, и это ЗАМЕЧАТЕЛЬНО.",
            "敏捷的棕色狐狸跳过了懒狗。今天是2024年10月31日，天气很好！",
            "素早い茶色のキツネがのろまな犬を飛び越える。カタカナとひらがな、１２３。",
            "빠른 갈색 여우가 게으른 개를 뛰어넘습니다. 안녕하세요!",
            "الثعلب البني السريع يقفز فوق الكلب الكسول، والسلام ١٢٣.",
            "तेज़ भूरी लोमड़ी आलसी कुत्ते के ऊपर कूदती है। नमस्ते दुनिया",
            "השועל החום המהיר קופץ מעל הכלב העצלן.",
            "Η γρήγορη καφέ αλεπού πηδάει πάνω από το τεμπέλικο σκυλί.",
            "สุนัขจิ้งจอกสีน้ำตาลที่รวดเร็วกระโดดข้ามสุนัขขี้เกียจ",
            "দ্রুত বাদামী শিয়াল অলস কুকুরের উপর দিয়ে লাফ দেয়",
            "Zażółć gęślą jaźń; Çok güzel; Đường phố Hà Nội; ÄÖÜß",
            "for (int i = 0; i < n; i++) {\n        if (a[i] != b[i]) {\n            return -1;\n        }\n}\n\n\n",
            "def f(x):\n\treturn x**2 if x>0 else None  # isn't it?\r\n\r\n",
            "<html>\n  <body class=\"a-b\">&amp;</body>\n</html>\n", "{\"id\": 12345678901234567890, \"v\": [1.5e-10]}",
            "👩‍👩‍👧‍👦🏳️‍🌈🇩🇪 emoji 😀😃😄",
            "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘!",
            "   leading\t\ttabs  and   trailing   \n \n\t ");

    private GeneratedText() {
    }

    /** A string of 0 to 24 parts, well-formed. */
    static String next(Random random) {
        StringBuilder text = new StringBuilder();
        int[] block = BLOCKS[random.nextInt(BLOCKS.length)];
        String sample = SAMPLES.get(random.nextInt(SAMPLES.size()));
        int kind = random.nextInt(4);
        for (int parts = random.nextInt(25); parts > 0; parts--) {
            switch (kind == 3 ? random.nextInt(3) : kind) {
                case 0 -> text.append(ATOMS[random.nextInt(ATOMS.length)]);
                case 1 -> text.appendCodePoint(character(block, random));
                default -> {
                    int start = sample.offsetByCodePoints(0, random.nextInt(sample.codePointCount(0, sample.length())));
                    int left = sample.codePointCount(start, sample.length());
                    text.append(sample, start, sample.offsetByCodePoints(start, Math.min(left, 1 + random.nextInt(9))));
                }
            }
        }
        return text.toString();
    }

    private static int character(int[] block, Random random) {
        int character = block[0] + random.nextInt(block[1] - block[0] + 1);
        return character >= 0xD800 && character <= 0xDFFF ? 'x' : character;
    }
}
