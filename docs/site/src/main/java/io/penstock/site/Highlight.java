// SPDX-License-Identifier: Apache-2.0
package io.penstock.site;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Marks comments, strings, words and numbers of code. */
final class Highlight {

    private static final String NOTHING = "(?!)";
    private static final String NUMBER = "\\b\\d[\\d_.]*(?:[eE][+-]?\\d+)?[fFL]?\\b";
    private static final String JAVA_WORDS = "abstract|assert|boolean|break|byte|case|catch|char|class|continue|"
            + "default|do|double|else|enum|extends|false|final|finally|float|for|if|implements|import|instanceof|int|"
            + "interface|long|new|null|package|private|protected|public|record|return|short|static|super|switch|this|"
            + "throw|throws|true|try|var|void|while|yield";
    private static final String PYTHON_WORDS = "and|as|class|def|elif|else|False|for|from|if|import|in|lambda|None|not|"
            + "or|return|True|while|with|yield";
    private static final Pattern JAVA = rules("//[^\\n]*|/\\*[\\s\\S]*?\\*/", "\\b(?:" + JAVA_WORDS + ")\\b|@\\w+",
            NUMBER);
    private static final Pattern SHELL = rules("(?<=\\s)#[^\\n]*|^#[^\\n]*", "(?<=\\s)--?[a-zA-Z][\\w-]*", NOTHING);
    private static final Pattern PYTHON = rules("#[^\\n]*", "\\b(?:" + PYTHON_WORDS + ")\\b", NUMBER);
    private static final Pattern JSON = rules(NOTHING, "\\b(?:true|false|null)\\b", NUMBER);
    private static final Pattern XML = rules("<!--[\\s\\S]*?-->", "</?[\\w:.-]+|/?>", NOTHING);
    private static final Map<String, Pattern> RULES = Map.of("java", JAVA, "sh", SHELL, "python", PYTHON, "json", JSON,
            "xml", XML);

    private Highlight() { }

    private static Pattern rules(String comments, String words, String numbers) {
        return Pattern.compile("(?<com>" + comments + ")|(?<str>\"\"\"[\\s\\S]*?\"\"\"|\"(?:\\\\.|[^\"\\\\\\n])*\""
                + "|'(?:\\\\.|[^'\\\\\\n])*')|(?<key>" + words + ")|(?<num>" + numbers + ")", Pattern.MULTILINE);
    }

    /** Code as HTML; of a language that is not known, as it is. */
    static String html(String code, String language) {
        Pattern rules = RULES.get(language);
        StringBuilder html = new StringBuilder();
        int end = 0;
        if (rules != null) {
            for (Matcher found = rules.matcher(code); found.find(); end = found.end()) {
                String kind = found.group("com") != null ? "com" : found.group("str") != null ? "str"
                        : found.group("key") != null ? "key" : "num";
                html.append(escape(code.substring(end, found.start()))).append("<span class=\"").append(kind)
                        .append("\">").append(escape(found.group())).append("</span>");
            }
        }
        return html.append(escape(code.substring(end))).toString();
    }

    static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }
}
