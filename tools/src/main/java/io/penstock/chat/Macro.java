// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import io.penstock.chat.Statement.MacroBody;
import io.penstock.chat.Values.Undefined;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/** A macro, or the body of a call block, with the frame that it is defined in. Its value is the text it writes. */
record Macro(MacroBody body, Frame closure) implements Values.Function {

    private static final int CALLER = 0;
    private static final int KWARGS = 1;
    private static final int VARARGS = 2;

    @Override
    public Object call(Render render, Arguments arguments) {
        render.enter();
        Frame frame = new Frame(body.scope(), closure, render, new StringBuilder());
        bind(frame, arguments);
        body.scope().enter(frame);
        setDefaults(frame);
        Statement.run(body.body(), frame);
        render.leave();
        return frame.out.toString();
    }

    private void bind(Frame frame, Arguments arguments) {
        Object[] positional = arguments.positional();
        Map<String, Object> named = new LinkedHashMap<>(arguments.named());
        int count = body.parameters().length;
        for (int i = 0; i < count; i++) {
            String name = body.names().get(i);
            boolean isNamed = i >= positional.length && named.containsKey(name);
            body.parameters()[i].set(frame, i < positional.length ? positional[i]
                    : isNamed ? named.remove(name) : Values.MISSING);
        }
        bindSpecial(frame, named);
        if (body.special()[KWARGS] != null) {
            body.special()[KWARGS].set(frame, named);
        } else if (!named.isEmpty()) {
            throw error("takes no argument named '" + named.keySet().iterator().next() + "'");
        }
        if (body.special()[VARARGS] != null) {
            Object[] rest = Arrays.copyOfRange(positional, Math.min(count, positional.length), positional.length);
            body.special()[VARARGS].set(frame, new Tuple(rest));
        } else if (positional.length > count) {
            throw error("takes at most " + count + " arguments, found " + positional.length);
        }
    }

    private void bindSpecial(Frame frame, Map<String, Object> named) {
        if (body.special()[CALLER] != null) {
            Object caller = named.remove("caller");
            body.special()[CALLER].set(frame, caller == null ? new Undefined("no caller is defined") : caller);
        }
    }

    private void setDefaults(Frame frame) {
        Expression[] defaults = body.defaults();
        int required = body.parameters().length - defaults.length;
        for (int i = 0; i < body.parameters().length; i++) {
            if (body.parameters()[i].get(frame) == Values.MISSING) {
                body.parameters()[i].set(frame, i >= required ? defaults[i - required].value(frame)
                        : new Undefined("the argument '" + body.names().get(i) + "' was not given"));
            }
        }
    }

    private ChatTemplateException error(String problem) {
        return Values.error("macro '" + body.name() + "' " + problem);
    }
}
