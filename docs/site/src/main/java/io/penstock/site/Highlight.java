// SPDX-License-Identifier: Apache-2.0
package io.penstock.site;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Marks comments, strings, words and numbers of code. */
final class Highlight {

    private static final String STRINGS = "(?<str>\"\"\"[\\s\\S]*?\"\"\"|\"(?:\\\\.|[^\"\\\\\\n])*\"|'(?:\\\\.|[^'\\\\\\n])*')";
    private static final String NUMBERS = "(?<num>\\b\\d[\\d_.]*(?:[eE][+-]?\\d+)?[fFL]?\\b)";
    private static final Pattern JAVA = Pattern.compile("(?<com>//[^\\n]*|/\\*[\\s\\S]*?\\*/)|" + STRINGS
            + "|(?<key>\\b(?:abstract|assert|boolean|break|byte|case|catch|char|class|continue|default|do|double|else|enum|"
            + "extends|false|final|finally|float|for|if|implements|import|instanceof|int|interface|long|new|null|package|"
            + "private|protected|public|record|return|short|static|super|switch|this|throw|throws|true|try|var|void|"
            + "while|yield)\\b|@\\w+)|" + NUMBERS);
    private static final Pattern SHELL = Pattern.compile("(?m)(?<com>(?<=\\s)#[^\\n]*|^#[^\\n]*)|" + STRINGS
            + "|(?<key>(?<=\\s)--?[a-zA-Z][\\w-]*)|(?<num>(?!))");
    private static final Pattern PYTHON = Pattern.compile("(?<com>#[^\\n]*)|" + STRINGS
            + "|(?<key>\\b(?:as|class|def|elif|else|False|for|from|if|import|in|lambda|None|not|or|and|return|True|while|"
            + "with|yield)\\b)|" + NUMBERS);
    private static final Pattern JSON = Pattern.compile("(?<com>(?!))|" + STRINGS + "|(?<key>\\b(?:true|false|null)\\b)|"
            + NUMBERS);
    private static final Pattern XML = Pattern.compile("(?<com><!--[\\s\\S]*?-->)|" + STRINGS + "|(?<key></?[\\w:.-]+|/?>)"
            + "|(?<num>(?!))");
    private static final Map<String, Pattern> RULES = Map.of("java", JAVA, "cuda", JAVA, "c", JAVA, "sh", SHELL,
            "bash", SHELL, "python", PYTHON, "json", JSON, "xml", XML);

    private Highlight() {
    }

    /** Code as HTML; of a language that is not known, as it is. */
    static String html(String code, String language) {
        Pattern rules = RULES.get(language);
        if (rules == null) {
            return escape(code);
        }
        StringBuilder html = new StringBuilder();
        int end = 0;
        for (Matcher found = rules.matcher(code); found.find(end);) {
            html.append(escape(code.substring(end, found.start())));
            String kind = found.group("com") != null ? "com" : found.group("str") != null ? "str"
                    : found.group("key") != null ? "key" : "num";
            html.append("<span class=\"").append(kind).append("\">").append(escape(found.group())).append("</span>");
            end = found.end();
        }
        return html.append(escape(code.substring(end))).toString();
    }

    static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }
}
