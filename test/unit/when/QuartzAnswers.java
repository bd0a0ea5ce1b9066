import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Date;
import java.util.TimeZone;
import org.quartz.CronExpression;

/** Answers lines of "CRON|ZONE|AFTER_MS|COUNT" with the moments of Quartz, in ms, or with what is wrong. */
public final class QuartzAnswers {
  public static void main(String[] args) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      System.out.println(answer(line.split("\\|")));
    }
  }

  private static String answer(String[] asked) {
    try {
      CronExpression cron = new CronExpression(asked[0]);
      cron.setTimeZone(TimeZone.getTimeZone(asked[1]));
      StringBuilder out = new StringBuilder();
      Date at = new Date(Long.parseLong(asked[2]));
      for (int left = Integer.parseInt(asked[3]); left > 0; --left) {
        at = cron.getNextValidTimeAfter(at);
        if (at == null) break;
        out.append(out.length() == 0 ? "" : " ").append(at.getTime());
      }
      return out.toString();
    } catch (Exception wrong) {
      return "! " + wrong.getMessage();
    }
  }
}
